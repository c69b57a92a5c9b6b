import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// The covers about which a command decides.
struct CoverReferences: ParsableArguments {
    @Argument(help: ArgumentHelp("Albums as `fill review` prints them, or URLs.", valueName: "album or url"))
    var texts: [String]

    /// - Parameters:
    ///   - verb: What is done with covers, as a participle.
    ///   - nothing: The error message if there are none of what is named.
    ///   - isMeant: Whether a cover can be decided about so: a URL alone means the album with such a cover there.
    ///   - decide: Decides about covers of an album that are named by it, or by their URL. Returns their number.
    /// - Returns: How many covers were decided about.
    /// - Throws: An exit code, after an error message.
    @discardableResult
    func decide(
        in library: LibraryAPI, _ verb: String, isQuiet: Bool, nothing: (String) -> String,
        isMeant: (SourceCandidate) -> Bool = { _ in true },
        _ decide: (_ found: FoundCovers.Album, _ reference: Reference) async throws -> Int
    ) async throws -> DecidedCovers {
        var total = 0
        try await library.acceptAddresses()
        var named: [(reference: Reference, found: [FoundCovers.Album])] = []
        for reference in all { named.append((reference, try await FoundCovers.named(reference.text, in: library))) }
        // The URL of a cover beside its album means that cover of that album.
        let albums = Set(named.filter { !$0.reference.isURL }.flatMap { $0.found.map(\.album.id) })
        var chosen: Set<Album.ID> = []
        for index in named.indices where named[index].reference.isURL {
            let own = named[index].found.filter { albums.contains($0.album.id) }
            if own.isEmpty {
                let found = named[index].found.filter { $0.covers.contains(where: isMeant) }
                if found.count > 1 {
                    // It is decided about beside one of them.
                    throw AlbumReference.several(
                        found.map { $0.number - 1 }, "were offered \(named[index].reference.text)",
                        try await library.albums.all(), library.configuration.libraryPath)
                }
                continue
            }
            named[index].found = own
            chosen.formUnion(own.map(\.album.id))
        }
        for index in named.indices where !named[index].reference.isURL {
            named[index].found.removeAll { chosen.contains($0.album.id) }
        }
        for (reference, found) in named where !found.isEmpty {
            var covers = 0
            for found in found {
                let count = try await decide(found, reference)
                covers += count
                if !isQuiet { Self.tell(verb, count, of: found.album) }
            }
            if covers == 0 { throw fail(nothing(found.count == 1 ? found[0].album.fullName : "“\(reference.text)”")) }
            total += covers
        }
        return DecidedCovers(covers: total)
    }

    /// One of the texts.
    struct Reference {
        let text: String
        var isURL: Bool { text.contains("://") }
        /// The folder, if it names one.
        var folder: BytePath { BytePath(text).resolved ?? BytePath(text) }
    }

    var all: [Reference] { texts.map { Reference(text: $0) } }

    static func tell(_ verb: String, _ count: Int, of album: Album) {
        if count > 0 { Log.info("\(album.fullName): \(verb) \(Decimals.count(count, "cover"))") }
    }
}

/// The result of a command that decides about covers.
struct DecidedCovers: Encodable { let covers: Int }

struct FillAccept: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", _superCommandName: "sleeve fill",
        abstract: "Write doubtful covers that are right.",
        discussion: """
            With the last fill's options unless given, such as --embed. Of an album, the first cover that \
            `fill review` lists; any other one by its URL. It replaces one that a fill wrote, with --embed in the tags, too; a file of yours stays, and is \
            named. No service is asked. While a fill runs, the next one writes it.
            """)

    @OptionGroup var references: CoverReferences
    @OptionGroup var arguments: FillArguments
    /// No service is asked. A cover from another address of the Cover Art Archive is downloaded from there.
    @OptionGroup(visibility: .hidden) var sources: SourceOptions

    func run() async throws {
        try await arguments.withLibrary(asking: sources, isAlone: false) { library, state in
            let command = try (try? FillCommand.parse(state.lastFill() ?? [])) ?? FillCommand.parse([])
            var arguments = arguments
            arguments.covers.fillIn(command.arguments.covers)
            var chosen: [(album: Album, cover: SourceCandidate)] = []
            try await references.decide(
                in: library, "accepted", isQuiet: true,
                nothing: {
                    """
                    `sleeve fill review` lists no cover of \($0); name one by its URL: `sleeve fill review --refused` prints those that \
                    you refused
                    """
                }
            ) { found, reference in
                guard
                    let cover = reference.isURL
                        ? found.covers.first : found.acceptable(AlbumReference.number(of: reference.text))
                else { return 0 }
                chosen.append((found.album, cover))
                return 1
            }
            // A word is no fill's business: it is kept, and the next fill writes the cover.
            let isAlone = try state.tryLock()
            let number = isAlone ? try state.nextRun() : nil
            var decisions: [Decision] = []
            // Undo withdraws what is new. What is said again is written again where an undo took it back.
            for (album, cover) in chosen {
                let former = try state.decisions(of: album.id).acceptance
                decisions += await library.decisions(
                    .accepted, [cover], of: album, run: cover.match == .accepted ? former?.run : number)
            }
            try state.add(decisions)
            if !arguments.options.quiet {
                for (album, _) in chosen { Log.info("\(album.fullName): accepted 1 cover") }
            }
            if !isAlone {
                Log.warning("another scan or fill of this library is running: the next fill writes what you accepted")
                return
            }
            var work = FillWork(arguments, asking: sources, library, state)
            (work.only, work.number) = (Set(chosen.map(\.album.id)), number)
            try await work.run(try command.music.scan(else: state.roots(of: Array(work.only ?? []))))
        }
    }
}

struct FillRefuse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refuse", _superCommandName: "sleeve fill",
        abstract: "Never write these covers again: they are wrong.",
        discussion: """
            Of an album, all covers that are known, with those of its tags and of its own addresses. Files stay, and are named: remove \
            them, or take the fill back.
            """)

    @OptionGroup var references: CoverReferences
    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.withLibrary { library in
            let isQuiet = editing.options.quiet
            let decided = try await references.decide(
                in: library, "refused", isQuiet: isQuiet, nothing: { "no doubtful or certain cover of \($0) is known" },
                isMeant: { $0.match != .refused }
            ) { found, reference in
                let isURL = reference.isURL
                let pictures = isURL ? [] : try await library.pictures(of: found.album, beside: found.covers)
                let refused = (found.covers + pictures).filter { $0.match != .refused }
                try library.add(await library.decisions(.refused, refused, of: found.album))
                var album = found.album
                let isItsAddress = found.covers.contains { cover in
                    !cover.name.isAddress && album.coverURL.map(cover.pictures.contains) ?? false
                }
                if isItsAddress {
                    album.coverURL = nil
                    try await library.albums.edit([(found.album, album)])
                }
                if !isQuiet, isItsAddress || !isURL,
                    let state = try MusicState.existing(of: library.configuration.libraryPath)
                {
                    try state.tellWhatStays(
                        try state.written(of: album.id),
                        songs: try state.written(.tags, of: album.id).count { $0.state != .removed })
                }
                return found.covers.count + pictures.count
            }
            try editing.options.printResult(decided, text: "")
        }
    }
}

struct FillAllow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow", _superCommandName: "sleeve fill",
        abstract: "Take back an acceptance, a refusal or a removal.",
        discussion: """
            `fill review --refused` lists what you refused and removed.
            """)

    @OptionGroup var references: CoverReferences
    @Flag(help: "All albums in the folders that are named, and below them.")
    var all = false
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withAlbums(try options.configuration()) { library in
            let removed = Dictionary(grouping: try await library.removedCovers().map(\.file), by: \.album)
            let state = try MusicState(of: library.configuration.libraryPath) { Log.warning($0) }
            func allow(_ covers: [SourceCandidate], _ files: [Written], of album: Album.ID) throws -> Int {
                try state.allow(covers, of: album)
                for file in files { try state.set(file, .allowed) }
                // Many songs have one picture.
                return covers.count + Set(files.map(\.digest)).count
            }
            if all {
                try await library.acceptAddresses()
                let albums = try await library.albums.all()
                return try allowAll(albums, state.decisions(), removed, state) { try allow($0, $1, of: $2) }
            }
            let decided = try await references.decide(
                in: library, "allowed", isQuiet: options.quiet,
                nothing: { "no cover of \($0) was accepted, refused or removed" },
                isMeant: { $0.match.ground == .person }
            ) { found, reference in
                let decided = found.covers.filter { $0.match.ground == .person }
                var files = removed[found.album.id] ?? []
                if reference.isURL { files = try state.rows(files, of: found.covers.map(\.name)) }
                // A removal belongs to a place.
                let inside = files.filter { $0.path.isInside(reference.folder) }
                if !inside.isEmpty { files = inside }
                return try allow(decided, files, of: found.album.id)
            }
            try options.printResult(decided, text: "")
        }
    }

    private func allowAll(
        _ albums: [Album], _ decisions: [Album.ID: Decisions], _ removed: [Album.ID: [Written]], _ state: MusicState,
        _ allow: ([SourceCandidate], [Written], Album.ID) throws -> Int
    ) throws {
        var covers = 0
        for reference in references.all {
            let ids = Set(try state.albums(at: reference.folder))
            var total = 0
            for album in albums where ids.contains(album.id) {
                let said = decisions[album.id]?.current.map { SourceCandidate($0) } ?? []
                let files = (removed[album.id] ?? []).filter { $0.path.isInside(reference.folder) }
                let count = try allow(said, files, album.id)
                if !options.quiet { CoverReferences.tell("allowed", count, of: album) }
                total += count
            }
            if total == 0 { throw fail("no cover of an album in “\(reference.text)” was accepted, refused or removed") }
            covers += total
        }
        try options.printResult(DecidedCovers(covers: covers), text: "")
    }
}

extension MusicState {
    /// Says of files whose cover was refused that they stay, and what to do. Those that are not as a fill wrote them are a person's.
    /// - Parameter songs: In whose tags a fill has written a cover.
    /// - Throws: `Problem`.
    func tellWhatStays(_ files: [Written], songs: Int) throws {
        let last = try runs().first
        let lines = files.filter { $0.state != .removed && $0.isUnchanged }.map { file in
            let undo = file.run == last ? ", or take all of the last fill back by `sleeve fill undo`" : ""
            return "\(file.path): stays; remove it\(undo)"
        }
        MessageList("file") { Log.info($0) }.print(lines)
        if songs > 0 {
            let stay = "the covers that fills wrote into the tags of \(Decimals.count(songs, "song")) stay"
            Log.info("\(stay), until you accept another one with --embed, or take their fill back")
        }
    }
}
