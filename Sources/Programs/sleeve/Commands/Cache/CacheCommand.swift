import ArgumentParser

struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "The cache: its size, make room, keep covers, check for damage, carry them elsewhere.",
        discussion: """
              sleeve cache stats                      how large the cache is
              sleeve cache evict --to 2G              make room
              sleeve cache pin --album "Low Tide"     keep the cover of an album

            pin, unpin and remove name covers by URL, list, album, host or pattern. To share covers with players and media servers \
            as files with names, use `sleeve export`.
            """,
        subcommands: [
            CacheList.self, CacheStats.self, CacheVerify.self, CacheEvict.self, CachePin.self, CacheUnpin.self,
            CacheRemove.self, CachePack.self, CacheUnpack.self,
        ])
}
