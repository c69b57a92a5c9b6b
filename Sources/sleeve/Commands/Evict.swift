import ArgumentParser
import CoverLibrary

struct Evict: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Make the cache smaller: the least recently used covers go first.",
        discussion:
            "  sleeve evict --to 500M        keep at most 500 MB\n  sleeve evict --to 0           empty the cache")

    @Option(help: ArgumentHelp("Evict until at most this much is charged.", valueName: "size"))
    var to: ByteSize

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        let library = try await openLibrary(try options.configuration(), makesCache: false)
        do {
            let evicted = try await library.evict(to: to.bytes)
            if options.json {
                var line = JSONObject()
                line.add("evicted", evicted.covers)
                line.add("bytes", evicted.bytes)
                try tell(line.text + "\n")
            } else if !options.quiet {
                try tell(
                    "evicted \(Decimals.grouped(evicted.covers)) covers, \(ByteSize(evicted.bytes)) given back\n")
            }
        } catch let error as LibraryError {
            throw fail(error.message)
        }
        await library.close()
    }
}
