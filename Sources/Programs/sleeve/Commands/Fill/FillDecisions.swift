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
    ///   - decide: Decides about covers of an album that are named by it, or by their URL. Returns their number.
    /// - Returns: How many covers were decided about.
    /// - Throws: An exit code, after an error message.
    @discardableResult
    func decide(
        in library: LibraryAPI, _ verb: String, isQuiet: Bool, createsMemory: Bool = false,
        nothing: (String) -> String,
        _ decide: (_ covers: FoundCovers, _ found: FoundCovers.Album, _ isURL: Bool) async throws -> Int
    ) async throws -> DecidedCovers {
        var all = 0
        for text in texts {
            var total = 0
            for (covers, found) in try await FoundCovers.named(text, in: library, createsMemory: createsMemory) {
                let count = try await decide(covers, found, text.contains("://"))
                total += count
                if count == 0 || isQuiet { continue }
                Log.info("\(found.album.fullName): \(verb) \(Decimals.count(count, "cover"))")
            }
            if total == 0 { throw fail(nothing("“\(text)”")) }
            all += total
        }
        return DecidedCovers(covers: all)
    }
}

extension CoverReferences {
    /// Decides about pictures for all albums, whatever their size and coding.
    /// - Throws: An exit code, after an error message.
    fileprivate func decide(
        in library: LibraryAPI, isQuiet: Bool, _ verb: String, _ decide: (MusicState, Cover) throws -> Void
    ) async throws -> DecidedCovers {
        let state = try MusicFolderOptions.openState(library.configuration)
        for url in texts {
            do {
                try decide(state, try await library.cover(for: CoverRequest(location: url)))
            } catch let failure as CoverFailure {
                throw fail(failure.advice)
            }
            if !isQuiet { Log.info("\(Redaction.redact(url)): \(verb) for all albums") }
        }
        return DecidedCovers(covers: texts.count)
    }
}

struct EverywhereOption: ParsableArguments {
    @Flag(help: "For all albums: the picture at a URL, in all sizes, is what a service shows in place of a cover.")
    var everywhere = false

    func validate(_ references: CoverReferences) throws {
        guard everywhere, let text = references.texts.first(where: { !$0.contains("://") }) else { return }
        throw ValidationError("--everywhere needs the URL of a picture, not '\(text)'.")
    }
}

/// The result of a command that decides about covers.
struct DecidedCovers: Encodable { let covers: Int }

struct FillReview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review", _superCommandName: "sleeve fill",
        abstract: "List the doubtful covers that were found.",
        discussion: """
            The other commands take an album as it is printed, its number, or the URL of a cover.
            """)

    @Flag(help: "List the covers that you refused, and those of fills that you removed.")
    var refused = false

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withAlbums(try options.configuration()) { library in
            let covers = try await FoundCovers(library)
            let found = (refused ? try await covers?.refused() : try await covers?.doubtful()) ?? []
            let isRepeated = { (album: FoundCovers.Album) in
                !options.json && album.covers.allSatisfy { $0.match.reason == RepeatedPictures.reason }
            }
            for album in found where !isRepeated(album) { try print(album) }
            let repeated = found.filter(isRepeated).map { "\($0.number). \($0.album.fullName)" }
            if !repeated.isEmpty {
                try printLine("\(repeated.joined(separator: "; ")): \(RepeatedPictures.reason)")
            }
            let removed = refused ? try await library.removedCovers() : []
            for (name, file) in removed {
                if options.json {
                    let line: JSONObject = ["album": file.album, "removed": "\(file.path)"]
                    try printResult(line.text + "\n")
                } else {
                    try printLine(name)
                    try printLine("  you removed \(file.path)")
                }
            }
            if options.json || options.quiet || !removed.isEmpty || !found.isEmpty { return }
            try printResult(refused ? "No refused covers.\n" : "No doubtful covers.\n")
        }
    }

    private func print(_ found: FoundCovers.Album) throws {
        if !options.json { try printLine("\(found.number). \(found.album.fullName)") }
        for cover in found.covers {
            let (album, url) = (cover.album, cover.pictures.first)
            if options.json {
                let line: JSONObject = [
                    "album": found.album.id, "number": found.number, "artist": found.album.artist,
                    "title": found.album.title, "source": cover.source.rawValue, "foundArtist": album.artist,
                    "foundTitle": album.title, "foundYear": album.year, "foundTracks": album.trackCount,
                    "reason": cover.match.reason, "url": url,
                ]
                try printResult(line.text + "\n")
                continue
            }
            let facts = [album.year.map { "(\($0))" }, album.trackCount.map { Decimals.count($0, "track") }]
            let text = ([album.artist, album.title] + facts.compactMap(\.self)).joined(separator: ", ")
            for line in ["\(cover.source.title): \(text)", cover.match.reason, Redaction.redact(url ?? "")] {
                try printLine("  \(line)")
            }
        }
    }
}

struct FillAccept: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", _superCommandName: "sleeve fill",
        abstract: "Write doubtful covers that are right.",
        discussion: """
            In the folders of the last fill. Of an album, the first cover that `fill review` lists.
            """)

    @OptionGroup var references: CoverReferences
    @OptionGroup var arguments: FillArguments

    func run() async throws {
        try await arguments.withLibrary { library, state in
            var work = FillWork(arguments, library, state)
            var only: Set<Album.ID> = []
            try await references.decide(
                in: library, "accepted", isQuiet: arguments.options.quiet,
                nothing: { "no doubtful cover of \($0) is known" }
            ) { covers, found, _ in
                guard let cover = found.covers.first else { return 0 }
                try await covers.accept(cover, of: found.album)
                only.insert(found.album.id)
                return 1
            }
            work.only = only
            let folders = try state.lastFill()?.folders ?? state.roots()
            try await work.run(try MusicFolderOptions.parse([]).scan(else: folders))
        }
    }
}

struct FillRefuse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refuse", _superCommandName: "sleeve fill",
        abstract: "Never write these covers again: they are wrong.",
        discussion: """
            Of an album, all covers that are known, with those of its tags and of its own addresses. Files stay: remove them, or \
            take the fill back.
            """)

    @OptionGroup var references: CoverReferences
    @OptionGroup var everywhere: EverywhereOption
    @OptionGroup var editing: EditOptions

    func validate() throws { try everywhere.validate(references) }

    func run() async throws {
        try await editing.withLibrary { library in
            if everywhere.everywhere {
                let decided = try await references.decide(in: library, isQuiet: editing.options.quiet, "refused") {
                    try $0.refuse($1)
                }
                return try editing.options.printResult(decided, text: "")
            }
            let decided = try await references.decide(
                in: library, "refused", isQuiet: editing.options.quiet, createsMemory: true,
                nothing: { "no doubtful or certain cover of \($0) is known" }
            ) { covers, found, isURL in
                let pictures = isURL ? [] : await library.pictures(of: found.album, besides: found.covers)
                try await covers.refuse(found.covers + pictures, of: found.album)
                var album = found.album
                if let url = album.coverURL, found.covers.contains(where: { $0.pictures.contains(url) }) {
                    album.coverURL = nil
                    try await library.albums.edit([(found.album, album)])
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
        abstract: "Let covers be written that you refused or removed.",
        discussion: """
            `fill review --refused` lists both.
            """)

    @OptionGroup var references: CoverReferences
    @OptionGroup var everywhere: EverywhereOption
    @OptionGroup var options: LibraryOptions

    func validate() throws { try everywhere.validate(references) }

    func run() async throws {
        try await withAlbums(try options.configuration()) { library in
            if everywhere.everywhere {
                let decided = try await references.decide(in: library, isQuiet: options.quiet, "allowed") {
                    state, cover in
                    if let digest = Digest(cover.digest) { try state.allow(refusedPicture: digest) }
                }
                return try options.printResult(decided, text: "")
            }
            let removed = try await library.removedCovers().map(\.file)
            let decided = try await references.decide(
                in: library, "allowed", isQuiet: options.quiet, nothing: { "no cover of \($0) was refused or removed" }
            ) { covers, found, isURL in
                let refused = found.covers.filter { $0.match == .refused }
                try await covers.allow(refused, of: found.album)
                let files = isURL ? [] : removed.filter { $0.album == found.album.id }
                let state = files.isEmpty ? nil : try MusicFolderOptions.openState(library.configuration)
                for file in files { try state?.allow(file) }
                return refused.count + files.count
            }
            try options.printResult(decided, text: "")
        }
    }
}
