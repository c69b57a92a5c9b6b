import ArgumentParser
import CoverLibrary

/// Every command states its name: deriving it from the type's costs each start of the program two milliseconds.
@main
struct Sleeve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sleeve",
        abstract: "Download album covers in bulk, keep them verified on disk, use them offline.",
        discussion: """
            Covers are kept once each, whatever the number of URLs that lead to them, in a cache of bounded size. What a \
            prefetch has reported is on the disk and survives power loss.

            Begin with:
              sleeve prefetch albums.json        fetch the covers of a list
              sleeve refresh                     ask whether what is cached still stands
              sleeve get URL -o cover.jpg        one cover, from the cache if it is there
              sleeve album list                  your library; add, delete, undo and more
              sleeve serve                       your library in a browser
              sleeve stats                       what the cache holds

            Exit codes: 0 all there, 1 could not run, 3 some covers failed or were skipped, 64 wrong usage, 75 another refresh is running, 128+N stopped by signal N.
            """,
        version: LibraryAPI.version,
        subcommands: [
            Prefetch.self, Refresh.self, Get.self, AlbumCommand.self, Serve.self, List.self, Stats.self, Verify.self,
            Evict.self,
            OriginCommand.self,
        ])
}
