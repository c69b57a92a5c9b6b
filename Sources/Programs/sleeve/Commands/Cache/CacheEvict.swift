import ArgumentParser
import CommandSupport
import CoverLibrary

struct CacheEvict: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evict", _superCommandName: "sleeve cache",
        abstract: "Make room: drop the least recently used covers.",
        discussion: """
              sleeve cache evict --to 500M        keep at most 500 MiB
              sleeve cache evict --to 0           drop all covers that are not pinned

            Pinned covers stay. `sleeve cache remove` drops covers that you name; --capacity of `sleeve prefetch` limits the cache from then on.
            """)

    @Option(help: ArgumentHelp("The size to shrink the cache to, such as 500M or 2G.", valueName: "size"))
    var to: ByteSize

    @Flag(help: "Print what would be evicted, and evict nothing.")
    var dryRun = false

    @OptionGroup var options: LibraryOptions

    func validate() throws { if to.bytes > 0 { try to.requireRoom("--to") } }

    func run() async throws {
        try await withLibrary(try options.configuration(), createsCache: false) { library in
            let evicted = try await library.evict(to: to.bytes, dryRun: dryRun)
            let totals = try await library.cacheTotals()
            if totals.chargedBytes - (dryRun ? evicted.bytes : 0) > to.bytes, totals.pinned > 0 {
                let covers = Decimals.count(totals.pinned, "pinned cover")
                Log.warning(
                    "\(covers) of \(ByteSize(totals.pinnedBytes)) kept; `sleeve cache unpin` lets them be evicted")
            }
            let verb = dryRun ? ("Would evict", "free") : ("Evicted", "freed")
            let count = Decimals.count(evicted.covers, "cover")
            try options.printResult(
                Summary(evicted: evicted.covers, bytes: evicted.bytes, dryRun: dryRun),
                text: "\(verb.0) \(count), \(verb.1) \(ByteSize(evicted.bytes)).\n")
        }
    }

    private struct Summary: Encodable {
        let evicted, bytes: Int
        let dryRun: Bool
    }
}
