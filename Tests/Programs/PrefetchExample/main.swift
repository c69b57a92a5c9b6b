import CoverLibrary
import Foundation

let library = try await LibraryAPI(configuration: LibraryConfiguration(cacheDirectory: URL(filePath: "cache/example")))
let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
for try await outcome in library.prefetch(urls) {
    print(outcome.kind, outcome.url, outcome.failure?.detail ?? "")
}
for (url, status) in zip(urls, try await library.statuses(of: urls)) where status != nil {
    let cover = try await library.cover(for: url)
    print(cover.url, cover.mediaType, cover.width ?? 0, "×", cover.height ?? 0, cover.data.count)
}
await library.close()
