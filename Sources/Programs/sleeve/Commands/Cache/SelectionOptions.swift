import AlbumLibrary
import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform
import Synchronization

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
