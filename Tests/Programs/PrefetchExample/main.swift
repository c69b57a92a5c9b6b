import CoverLibrary
import Foundation

let library = try await LibraryAPI(
    configuration: LibraryConfiguration(
        cacheDirectory: URL(filePath: "cache/example"), libraryFile: URL(filePath: "cache/example-albums.json")))
let events = library.events()
let observer = Task {
    for await event in events {
        if case .arrived(let cover) = event { print("arrived:", cover.url, cover.bytes) }
    }
}
let summary = try await library.prefetch(try await library.albums.all()).summary()
print(summary.downloaded, "downloaded,", summary.fresh, "fresh,", summary.failed, "failed")
if let url = try await library.albums.all().first?.coverURL.flatMap({ URL(string: $0) }),
    let cover = try await library.cachedCover(for: url)
{
    print(cover.data.count, cover.mediaType, cover.width ?? 0, "×", cover.height ?? 0)
}
try await library.albums.add(Album(title: "Low Tide", artist: "The Harbour Lights", year: "1971"), at: 0)
try await library.albums.undo()
await library.close()
await observer.value
