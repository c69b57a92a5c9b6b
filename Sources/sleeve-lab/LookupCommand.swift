import ArgumentParser
import CoverLibrary
import Foundation

struct LookupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Time look-ups of cached covers through the library, for Scripts/bench.",
        discussion: "Prints the medians in microseconds as one JSON object.")

    @Argument(help: ArgumentHelp("The cache directory.", valueName: "cache"))
    var cache: String

    @Argument(help: ArgumentHelp("URLs of cached covers.", valueName: "url"))
    var urls: [String]

    private static let rounds = 5_000

    func run() async throws {
        let urls = urls.compactMap { URL(string: $0) }
        let library = try await LibraryAPI(
            configuration: LibraryConfiguration(
                cacheDirectory: URL(filePath: cache), libraryFile: URL(filePath: cache + "/albums.json")))
        let clock = ContinuousClock()
        // One way after the other, as programs use them: the hop to another thread and back leaves the caches cold.
        var (synchronous, throughActor): ([Duration], [Duration]) = ([], [])
        for round in 0..<Self.rounds {
            let url = urls[round % urls.count]
            synchronous.append(try clock.measure { _ = try library.cachedCover(for: url) })
        }
        for round in 0..<Self.rounds {
            let start = clock.now
            _ = try await library.cover(for: urls[round % urls.count])
            throughActor.append(start.duration(to: clock.now))
        }
        print("{\"syncMicros\":\(Self.median(synchronous)),\"actorMicros\":\(Self.median(throughActor))}")
        await library.close()
    }

    private static func median(_ times: [Duration]) -> Double { times.sorted()[times.count / 2] / .microseconds(1) }
}
