import CoverLibrary
import Foundation

// Times look-ups of cached covers through the library, for Scripts/bench: LookupBench CACHE-DIRECTORY URL...
let arguments = CommandLine.arguments.dropFirst()
guard let cache = arguments.first, arguments.count > 1 else {
    print("usage: LookupBench CACHE-DIRECTORY URL...")
    throw CancellationError()
}
let urls = arguments.dropFirst().compactMap { URL(string: $0) }
let library = try await LibraryAPI(
    configuration: LibraryConfiguration(
        cacheDirectory: URL(filePath: cache), libraryFile: URL(filePath: cache + "/albums.json")))

func median(_ times: [Duration]) -> Double {
    let middle = times.sorted()[times.count / 2].components
    return Double(middle.seconds) * 1e6 + Double(middle.attoseconds) / 1e12
}

let clock = ContinuousClock()
let rounds = 5_000
// One way after the other, as programs use them: the hop to another thread and back leaves the caches cold.
var (synchronous, throughActor): ([Duration], [Duration]) = ([], [])
for round in 0..<rounds {
    let url = urls[round % urls.count]
    synchronous.append(try clock.measure { _ = try library.cachedCover(for: url) })
}
for round in 0..<rounds {
    let start = clock.now
    _ = try await library.cover(for: urls[round % urls.count])
    throughActor.append(start.duration(to: clock.now))
}
print("{\"syncMicros\":\(median(synchronous)),\"actorMicros\":\(median(throughActor))}")
await library.close()
