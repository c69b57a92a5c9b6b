import ArgumentParser
import CommandSupport
import CoverLibrary
import Synchronization

struct Prefetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch", _superCommandName: "sleeve",
        abstract: "Download the covers of lists that are not in the cache yet.",
        discussion: """
            A list is a JSON array of albums ({title, artist, genre, coverUrl, year}), JSON lines, CSV with a header, or URLs, \
            one on each line. The format is detected, and so are the columns and fields of other programs: exports of beets, \
            Exportify and Discogs, lists for aria2c and wget, and the library of beets itself (library.db). Albums locate their cover \
            by coverUrl, coverUrls or a MusicBrainz id (see below). Lists are streamed and may have any length. Without a list, the library file is prefetched; if \
            there is none, it is created with starter albums, whose covers are put into the cache.

            Cached covers are not downloaded again. Run the command again after an interruption: it downloads what is \
            missing. A 404 or 410 is cached for as long as the server says, else ten minutes (404) or a day (410); at most a week.

            Addresses of covers on Subsonic servers (…/rest/getCoverArt?u=…&t=…&s=…&id=…) are one cover whatever their user, token, \
            salt and client. These are sent, and not kept.

            coverUrls may hold several URLs; the first that has the cover is used. An album with a MusicBrainz id \
            (musicBrainzReleaseId, musicBrainzReleaseGroupId, or the names that taggers use) falls back to the Cover Art \
            Archive. A 404 from the archive is cached for a week.

            With --sizes it also makes smaller pictures of the covers, for the gallery's wall and `sleeve get --size`, which make them when \
            they are first wanted otherwise. What has no room in the cache is made again then.

            With --tier, covers that another machine has downloaded are read from where both share them, and no server is asked. \
            Downloaded covers are put there. Exits with 3 if one could not be put; `sleeve push` puts it later.

              sleeve prefetch albums.json
              sleeve prefetch albums.json --tier /mnt/nas/covers
              tail -n +2 library.tsv | cut -f3 | sleeve prefetch - --per-host 4 --rate 20
              sleeve prefetch covers.csv --report report.jsonl --json
              sleeve prefetch ~/.config/beets/library.db
            """)

    @Argument(
        help: ArgumentHelp("Lists of covers; - is stdin. Default: the library file.", valueName: "input"),
        completion: .file())
    var inputs: [String] = []

    @Option(help: "The format of the lists: json, jsonl, csv or urls. Default: detected.")
    var format: ListFormat?

    @Option(
        help: ArgumentHelp(
            "The column, or the JSON field, of the cover's URL. Default: recognized by its name.", valueName: "name"))
    var urlColumn: String?

    @Option(
        help: ArgumentHelp(
            "Only the covers of this part of the lists, for a run on several machines: 0/4 to 3/4. A host is in one part.",
            valueName: "i/n"))
    var shard: Shard?

    @Option(
        help: ArgumentHelp(
            "Make these sizes of the covers ahead, in pixels of the longest side: 150, 300, 600, 1200.",
            valueName: "list"))
    var sizes: [CommaSeparated<Int>] = []

    @Flag(
        help: ArgumentHelp(
            "For benchmarks: always have --per-host and --parallel transfers in flight.", visibility: .hidden))
    var fixed = false

    @OptionGroup var absences: AbsenceOptions
    @OptionGroup var archive: ArchiveOptions
    @OptionGroup var tier: TierOptions
    @OptionGroup var files: RunOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        guard sizes.flatMap(\.values).allSatisfy({ LibraryAPI.keptSizes.contains($0) }) else {
            let all = LibraryAPI.keptSizes.map(String.init).joined(separator: ", ")
            throw ValidationError("--sizes takes some of \(all), with commas between them.")
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        keys.apply(to: &configuration)
        configuration.adapts = !fixed
        try archive.apply(to: &configuration)
        tier.apply(to: &configuration)
        if inputs.isEmpty { try configuration.requireLibraryFile() }
        let paths = inputs.isEmpty ? [configuration.libraryPath] : inputs
        try files.check(configuration, reading: paths)
        let run = try CoverRun("prefetch", options, files, cache: configuration.cachePath, shard: shard)
        let library = try await run.opening(isOffline: network.offline) {
            let library = try await openLibrary(configuration)
            // Creates or restores the library file if it is missing or damaged.
            if inputs.isEmpty { try await library.closingOnError { try await StarterLibrary.prepare(library) } }
            return library
        }
        let hasUnreadableList = Atomic(false)
        let outcomes = library.prefetch(
            lists: paths, ListOptions(format: format, isLibraryFile: inputs.isEmpty, urlColumn: urlColumn),
            cachePolicy: absences.cachePolicy, shard: shard,
            onNotice: { [failures = run.failures] in failures.warn("\($0)") },
            onFailure: { [failures = run.failures] problem in
                failures.warn("\(problem)")
                hasUnreadableList.store(true, ordering: .relaxed)
            })
        try await run.run(
            outcomes, of: library, sizes: sizes.flatMap(\.values),
            isComplete: { !hasUnreadableList.load(ordering: .relaxed) }
        ) { _ in
            "Nothing to download: no covers \(shard == nil ? "are listed" : "of this shard are listed").\n"
        }
    }
}

extension ListFormat: ExpressibleByArgument {}

extension Shard: ExpressibleByArgument {
    /// Reads `i/n`.
    public init?(argument: String) { self.init(argument) }
}
