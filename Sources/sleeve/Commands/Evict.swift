import ArgumentParser
import CoverLibrary

struct Evict: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Shrink the cache: the least recently used covers are dropped first.",
        discussion: """
              sleeve evict --to 500M        keep at most 500 MiB
              sleeve evict --to 0           empty the cache
            """)

    @Option(help: ArgumentHelp("Shrink the cache to this size.", valueName: "size"))
    var to: ByteSize

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withLibrary(try options.configuration(), createsCache: false) { library in
            let evicted = try await library.evict(to: to.bytes)
            if options.json {
                var line = JSONObject()
                line.add("evicted", evicted.covers)
                line.add("bytes", evicted.bytes)
                try printResult(line.text + "\n")
            } else if !options.quiet {
                let covers = Decimals.count(evicted.covers, "cover")
                try printResult("Evicted \(covers), freed \(ByteSize(evicted.bytes)).\n")
            }
        }
    }
}
