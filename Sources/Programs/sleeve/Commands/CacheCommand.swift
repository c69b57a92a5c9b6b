import AlbumLibrary
import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform
import Synchronization

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

struct CachePin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", _superCommandName: "sleeve cache",
        abstract: "Keep covers for ever: pinned ones are never evicted.",
        discussion: """
              sleeve cache pin https://example.org/cover.jpg
              sleeve cache pin --album "Low Tide" --album 7
              sleeve cache pin favourites.json
              sleeve cache pin --host covers.example.org

            A pin belongs to the URL: it stays when the cover is refreshed or downloaded again. Of an album, all its URLs \
            that are cached are pinned. A URL that is not cached is reported, and the exit code is 3; the others are pinned. \
            `sleeve cache list` marks pinned covers, and `sleeve cache stats` counts them.

            Pinned covers count towards the capacity. If they fill it, no other cover can be stored.
            """)

    @OptionGroup(title: "Which covers") var covers: SelectionOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await changePins(covers, options, ("Pinned", "pinned before")) { library, selection, failures in
            try await library.pin(selection) { failures.add($0) }
        }
    }
}

struct CacheUnpin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", _superCommandName: "sleeve cache",
        abstract: "Let pinned covers be evicted again.",
        discussion: """
              sleeve cache unpin https://example.org/cover.jpg
              sleeve cache unpin --matching '*/thumbnails/*'
              sleeve cache unpin --all

            The covers stay cached until they are the least recently used ones. A URL that is neither pinned nor cached is \
            reported, and the exit code is 3.
            """)

    @OptionGroup(title: "Which covers") var covers: SelectionOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await changePins(covers, options, ("Unpinned", "not pinned")) { library, selection, failures in
            try await library.unpin(selection) { failures.add($0) }
        }
    }
}

private struct PinResult: Encodable { let covers, changed, failed, pinned, pinnedBytes: Int }

/// Runs `pin` or `unpin`.
/// - Parameter words: the verb, and the name of covers that were not changed.
private func changePins(
    _ covers: SelectionOptions, _ options: LibraryOptions, _ words: (verb: String, unchanged: String),
    _ change: (LibraryAPI, CoverSelection, MessageList) async throws -> PinSummary
) async throws {
    var configuration = try options.configuration()
    try covers.apply(to: &configuration)
    try await withLibrary(configuration, createsCache: false) { library in
        let failures = MessageList()
        let selection = try await covers.selection(in: library, failures)
        let summary = try await change(library, selection, failures)
        failures.end()
        let totals = try await library.cacheTotals()
        let same = summary.covers - summary.changed
        let unchanged = same > 0 ? "; \(Decimals.grouped(same)) \(words.unchanged)" : ""
        var text = "\(words.verb) \(Decimals.count(summary.changed, "URL"))\(unchanged). "
        text += "\(Decimals.count(totals.pinned, "cover")) of \(ByteSize(totals.pinnedBytes)) pinned, "
        text += "capacity \(ByteSize(totals.capacity)).\n"
        try options.printResult(
            PinResult(
                covers: summary.covers, changed: summary.changed, failed: failures.count, pinned: totals.pinned,
                pinnedBytes: totals.pinnedBytes), text: text)
        if failures.count > 0 { throw ExitStatus.someFailed }
    }
}

struct CacheRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", _superCommandName: "sleeve cache",
        abstract: "Remove covers that you name.",
        discussion: """
              sleeve cache remove https://example.org/cover.jpg
              sleeve cache remove --host covers.example.org --dry-run
              sleeve cache remove --matching '*/thumbnails/*'
              sleeve cache list --json | jq -r 'select(.stale).url' | sleeve cache remove -

            A later command downloads them again; `sleeve fill refuse` keeps a wrong cover away. The bytes of a cover stay while other URLs share it. \
            Pinned covers stay unless --force is given. A named URL that is not cached or is pinned is \
            reported, and the exit code is 3.
            """)

    @Flag(help: "Remove pinned covers as well, and their pins.")
    var force = false

    @Flag(help: "Print what would be removed, and remove nothing.")
    var dryRun = false

    @OptionGroup(title: "Which covers") var covers: SelectionOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        var configuration = try options.configuration()
        try covers.apply(to: &configuration)
        try await withLibrary(configuration, createsCache: false) { library in
            let failures = MessageList()
            let selection = try await covers.selection(in: library, failures)
            let summary = try await library.remove(selection, includingPinned: force, dryRun: dryRun) {
                failures.add($0)
            }
            failures.end()
            let verb = dryRun ? ("Would remove", "free") : ("Removed", "freed")
            let count = Decimals.count(summary.entries, "URL")
            try options.printResult(
                Summary(
                    removed: summary.entries, bytes: summary.bytes, pinned: summary.pinned, failed: failures.count,
                    dryRun: dryRun),
                text: "\(verb.0) \(count), \(verb.1) \(ByteSize(summary.bytes)).\n")
            if summary.pinned > 0, !options.quiet || covers.isNamed {
                let covers = Decimals.count(summary.pinned, "pinned cover")
                Log.warning("\(covers) kept; --force removes pinned covers as well")
            }
            if failures.count > 0 || (covers.isNamed && summary.pinned > 0) { throw ExitStatus.someFailed }
        }
    }

    private struct Summary: Encodable {
        let removed, bytes, pinned, failed: Int
        let dryRun: Bool
    }
}

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

/// The cached covers that a command is about: named one by one, in lists, or by a filter.
struct SelectionOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("URLs of covers, or lists as for `sleeve prefetch`; - is stdin.", valueName: "input"),
        completion: .file())
    var inputs: [String] = []

    @Option(
        help: ArgumentHelp(
            "The cover of this album: its number, title, id or folder. Repeat the option for more.", valueName: "album")
    )
    var album: [AlbumReference] = []

    @OptionGroup var filter: FilterOptions

    @Flag(help: "All cached covers.")
    var all = false

    @OptionGroup var keys: KeyOptions
    @OptionGroup(visibility: .hidden) var archive: ArchiveServerOptions

    /// Whether the covers are named, so that one that is missing is an error.
    var isNamed: Bool { !inputs.isEmpty || !album.isEmpty }

    func validate() throws {
        switch [isNamed, !filter.isEmpty, all].count(where: \.self) {
        case 0: throw ValidationError("Name the covers: URLs, lists, --album, --host, --matching or --all.")
        case 1: return
        default: throw ValidationError("URLs, lists and --album, --host and --matching, and --all exclude each other.")
        }
    }

    func apply(to configuration: inout LibraryConfiguration) throws {
        keys.apply(to: &configuration)
        try archive.apply(to: &configuration)
    }

    /// Reads the lists and finds the albums.
    /// - Parameter failures: receives the lines of lists that are skipped.
    /// - Throws: An exit code, after an error message, if a list cannot be read or an album does not exist.
    func selection(in library: LibraryAPI, _ failures: MessageList) async throws -> CoverSelection {
        guard isNamed else { return .matching(filter.filter) }
        var requests: [CoverRequest] = []
        if !album.isEmpty {
            let albums = try await library.existingAlbums()
            for reference in album {
                let album = try reference.album(in: albums, of: library)
                if let problem = Self.problem(album, library) {
                    failures.add("\(album.shortName): \(problem)")
                } else {
                    requests.append(CoverRequest(album: album))
                }
            }
        }
        for input in inputs {
            if input.contains("://") {
                requests.append(CoverRequest(location: input))
            } else {
                requests += try await Self.requests(of: input, failures)
            }
        }
        return .requests(requests)
    }

    /// Why the cache has nothing of an album's; nil if it may have.
    private static func problem(_ album: Album, _ library: LibraryAPI) -> String? {
        guard library.coverURLs(of: album).isEmpty else { return nil }
        guard let file = album.coverFilePath else {
            return "the library has no address of its cover; `sleeve fill` looks for one"
        }
        return "its cover is the file \(BytePath(bytes: file)), which stays; the cache has no copy of it"
    }

    private static func requests(of list: String, _ failures: MessageList) async throws -> [CoverRequest] {
        let isUnreadable = Atomic(false)
        let batches = ListBatches(
            paths: [list], transform: { batch, file in batch.map { $0.checked(in: file) } },
            onFailure: { problem in
                Log.error("\(problem)")
                isUnreadable.store(true, ordering: .relaxed)
            })
        var requests: [CoverRequest] = []
        for await batch in batches {
            for element in batch {
                switch element {
                case .problem(let problem): failures.add("\(problem)")
                case .item(let item):
                    var request = CoverRequest(location: item.url)
                    request.album = item.album
                    requests.append(request)
                }
            }
        }
        if isUnreadable.load(ordering: .relaxed) { throw ExitStatus.couldNotRun }
        return requests
    }
}

/// Selects cached covers by their URLs.
struct FilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Covers of this host, such as covers.example.org or 127.0.0.1:8731.", valueName: "host"))
    var host: String?

    @Option(
        help: ArgumentHelp("Covers whose URL matches: * matches any text, ? any character.", valueName: "pattern"))
    var matching: String?

    var isEmpty: Bool { host == nil && matching == nil }
    var filter: CoverFilter { CoverFilter(host: host, pattern: matching) }

    func validate() throws {
        if host?.isEmpty == true { throw ValidationError("--host needs a host, such as covers.example.org") }
        if matching?.isEmpty == true { throw ValidationError("--matching needs a pattern, such as '*/front.jpg'") }
    }
}
