import ArgumentParser
import CoverLibrary
import Synchronization

struct Prefetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Fetch the covers of lists that are not in the cache yet.",
        discussion: """
            A list is an albums.json (an array of {title, artist, genre, coverUrl, year}), JSON lines, CSV with a header, or \
            plain URLs, one a line; - reads stdin. Albums say where their cover is by coverUrl, coverUrls, or a MusicBrainz id \
            (see below). The format is recognised. Lists are read as they are worked on, so they may be of any length. Without a list, the library file is prefetched, which at first holds starter albums whose \
            covers `sleeve origin` serves.

            What is in the cache already is not asked for again. Run it again after an interruption: only what is missing \
            is fetched. That a server has no cover (404, 410) is remembered for as long as it says, else for ten minutes \
            (404) or a day (410), a week at most.

            An album may name several places in coverUrls: the first that has the cover counts. One with a MusicBrainz id \
            (musicBrainzReleaseId, musicBrainzReleaseGroupId, or as taggers write them) gets it from the Cover Art Archive \
            where it has no other; that the archive has none is remembered for a week.

              sleeve prefetch albums.json
              cut -f3 library.tsv | sleeve prefetch - --per-host 4 --rate 20
              sleeve prefetch covers.csv --report report.jsonl --json
            """)

    @Argument(help: ArgumentHelp("Lists of covers; - is stdin. Default: the library file.", valueName: "input"))
    var inputs: [String] = []

    @Option(help: "The lists' format: json, jsonl, csv or urls. Default: recognised.")
    var format: ListFormat?

    @OptionGroup var absences: AbsenceOptions
    @OptionGroup var archive: ArchiveOptions
    @OptionGroup var files: RunOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        archive.apply(to: &configuration)
        if inputs.isEmpty, configuration.libraryFile.isEmpty { throw fail(LibraryOptions.homelessLibrary) }
        let paths = inputs.isEmpty ? [configuration.libraryFile] : inputs
        for path in paths where path != "-" && files.report.map({ OutputFile.isSame($0, path) }) == true {
            throw fail("--report would overwrite the list \(path); choose another file")
        }
        let run = try CoverRun("prefetch", options, files)
        let library = try await openLibrary(configuration)
        if inputs.isEmpty { try await makeLibraryFile(library) }
        let brokenLists = Mutex(0)
        let batches = ListBatches(paths: paths, format: format) { [complaints = run.complaints] problem in
            complaints.tell("\(problem)")
            brokenLists.withLock { $0 += 1 }
        }
        try await run.run(library, isWhole: { brokenLists.withLock { $0 } == 0 }) { [absences] progress in
            try await library.prefetch(
                batches: batches, retryingAbsent: absences.retryAbsent, progress: progress)
        }
    }

    /// Makes the library file, or mends it, where it has to be.
    private func makeLibraryFile(_ library: LibraryAPI) async throws {
        do {
            _ = try await library.albumList()
        } catch {
            await library.close()
            throw fail((error as? LibraryError)?.message ?? "\(error)")
        }
    }
}

extension ListFormat: ExpressibleByArgument {}
