import ArgumentParser
import CommandSupport
import CoverLibrary
import Synchronization

struct Prefetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch", _superCommandName: "sleeve",
        abstract: "Download the covers of lists into the cache.",
        discussion: """
              sleeve prefetch albums.json
              sleeve prefetch ~/.config/beets/library.db --sizes 300
              sleeve prefetch covers.csv --report report.jsonl --json
              tail -n +2 library.tsv | cut -f3 | sleeve prefetch - --per-host 4 --rate 20

            A list is a JSON array of albums ({title, artist, genre, coverUrl, year}), JSON lines, CSV with a header, URLs, \
            one on each line, or the library of beets. The format is detected, and so are the columns and fields of other programs. Lists \
            may have any length. Without a list, the library file is prefetched; if there is none, and --library does not name one, it is \
            created with starter albums.

            An album's cover is at the first of coverUrl, coverUrls or, with a MusicBrainz id (musicBrainzReleaseId, \
            musicBrainzReleaseGroupId, or the names that taggers use), the Cover Art Archive that has it.

            Cached covers are not downloaded again. Run the command again after an interruption: it downloads what is \
            missing. That a server has no cover (404, 410) is remembered for as long as it says, else ten minutes to a week.

            Exits with 3 if a cover failed.
            """)

    @Argument(
        help: ArgumentHelp("Lists of covers; - is stdin. (default: the library file)", valueName: "input"),
        completion: .file())
    var inputs: [String] = []

    @OptionGroup(title: "What to fetch") var what: What
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Cache and library") var store: CapacityOptions
    @OptionGroup(title: "Output") var files: RunOptions
    @OptionGroup var options: LibraryOptions

    struct What: ParsableArguments {
        @Option(help: "The format of the lists. (default: detected)")
        var format: ListFormat?

        @Option(
            help: ArgumentHelp(
                "The column, or JSON field, of the cover's URL. (default: recognized)", valueName: "name"))
        var urlColumn: String?

        @Option(
            help: ArgumentHelp(
                "Only the covers of this part of the lists, for a run on several machines: 0/4 to 3/4. A host is in one part.",
                valueName: "i/n", visibility: .hidden))
        var shard: Shard?

        @Option(
            help: ArgumentHelp(
                "Make these smaller pictures ahead, for the gallery and `sleeve get --size`: some of 150,300,600,1200.",
                valueName: "list"))
        var sizes: [CommaSeparated<Int>] = []

        @Flag(
            help: ArgumentHelp(
                "For benchmarks: always have --per-host and --parallel transfers in flight.", visibility: .hidden))
        var fixed = false

        @OptionGroup var archive: ArchiveOptions
        @OptionGroup var absences: AbsenceOptions
        @OptionGroup var keys: KeyOptions
        @OptionGroup var headers: HeaderOptions

        func validate() throws {
            guard sizes.flatMap(\.values).allSatisfy({ LibraryAPI.keptSizes.contains($0) }) else {
                let all = LibraryAPI.keptSizes.map(String.init).joined(separator: ", ")
                throw ValidationError("--sizes takes some of \(all), with commas between them.")
            }
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        what.keys.apply(to: &configuration)
        configuration.adapts = !what.fixed
        try what.archive.apply(to: &configuration)
        store.apply(to: &configuration)
        let headerFields = try what.headers.fields()
        if inputs.isEmpty {
            try configuration.requireLibraryFile()
            // A file that was named and is missing is on a disk that is not there, or mistyped.
            if options.places.library != nil { try configuration.requireExistingLibraryFile() }
        }
        let paths = inputs.isEmpty ? [configuration.libraryPath] : inputs
        try files.check(configuration, reading: paths)
        let run = try CoverRun("prefetch", options, files, cache: configuration.cachePath, shard: what.shard)
        let library = try await run.opening(isOffline: network.offline) {
            let library = try await openLibrary(configuration)
            // Creates or restores the library file if it is missing or damaged.
            if inputs.isEmpty { try await library.closingOnError { try await StarterLibrary.prepare(library) } }
            return library
        }
        let hasUnreadableList = Atomic(false)
        let outcomes = library.prefetch(
            lists: paths, ListOptions(format: what.format, isLibraryFile: inputs.isEmpty, urlColumn: what.urlColumn),
            cachePolicy: what.absences.cachePolicy, headerFields: headerFields, shard: what.shard,
            onNotice: { [failures = run.failures] in failures.warn("\($0)") },
            onFailure: { [failures = run.failures] problem in
                failures.warn("\(problem)")
                hasUnreadableList.store(true, ordering: .relaxed)
            })
        try await run.run(
            outcomes, of: library, sizes: what.sizes.flatMap(\.values),
            isComplete: { !hasUnreadableList.load(ordering: .relaxed) }
        ) { _ in
            "Nothing to download: no covers \(what.shard == nil ? "are listed" : "of this shard are listed").\n"
        }
    }
}

extension ListFormat: ExpressibleByArgument {}

extension Shard: ExpressibleByArgument {
    /// Reads `i/n`.
    public init?(argument: String) { self.init(argument) }
}
