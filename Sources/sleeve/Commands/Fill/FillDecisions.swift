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
}

struct FillReview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review", _superCommandName: "sleeve fill",
        abstract: "List the doubtful covers that were found.",
        discussion: "The other commands take an album as it is printed, its number, or the URL of a cover.")

    @Flag(help: "List the covers that you refused, and those of fills that you removed.")
    var refused = false

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withAlbums(try options.configuration()) { library in
            let covers = try await FoundCovers(library)
            let found = (refused ? try await covers?.refused() : try await covers?.doubtful()) ?? []
            for album in found { try print(album) }
            let removed = refused ? try await library.removedCovers() : []
            for (name, file) in removed {
                if options.json {
                    try printJSON(["album": file.album, "removed": "\(file.path)"])
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
                try printJSON([
                    "album": found.album.id, "number": found.number, "artist": found.album.artist,
                    "title": found.album.title, "source": cover.source.rawValue, "foundArtist": album.artist,
                    "foundTitle": album.title, "foundYear": album.year, "foundTracks": album.trackCount,
                    "reason": cover.match.reason, "url": url,
                ])
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
        abstract: "Write doubtful covers.",
        discussion: "In the folders of the last fill. Of an album, the first cover that `fill review` lists.")

    @OptionGroup var references: CoverReferences
    @OptionGroup var arguments: FillArguments

    func run() async throws {
        try await arguments.withLibrary { library, state in
            var work = FillWork(arguments, library, state)
            work.only = []
            for reference in references.texts {
                for (covers, found) in try await FoundCovers.named(reference, in: library) {
                    guard let cover = found.covers.first else {
                        throw fail("no doubtful cover of “\(reference)” is known")
                    }
                    try await covers.accept(cover, of: found.album)
                    work.only?.insert(found.album.id)
                }
            }
            let folders = try state.lastFill()?.folders ?? state.roots()
            try await work.run(try MusicFolderOptions.parse([]).scan(else: folders))
        }
    }
}

struct FillRefuse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refuse", _superCommandName: "sleeve fill",
        abstract: "Never write covers, certain ones neither.",
        discussion: "Of an album, all covers that are known. Files stay: remove them, or take the fill back.")

    @OptionGroup var references: CoverReferences
    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.withLibrary { library in
            for reference in references.texts {
                for (covers, found) in try await FoundCovers.named(reference, in: library) {
                    if found.covers.isEmpty { throw fail("no doubtful or certain cover of “\(reference)” is known") }
                    try await covers.refuse(found.covers, of: found.album)
                    if !editing.options.quiet { Log.info("refused \(Decimals.count(found.covers.count, "cover"))") }
                    var album = found.album
                    guard let url = album.coverURL, found.covers.contains(where: { $0.pictures.contains(url) }) else {
                        continue
                    }
                    album.coverURL = nil
                    try await library.albums.edit([(found.album, album)])
                }
            }
        }
    }
}

struct FillAllow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow", _superCommandName: "sleeve fill",
        abstract: "Let covers be written that you refused or removed.",
        discussion: "`fill review --refused` lists both.")

    @OptionGroup var references: CoverReferences
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withAlbums(try options.configuration()) { library in
            for reference in references.texts {
                var count = 0
                let albums = try await FoundCovers.named(reference, in: library)
                for (covers, found) in albums {
                    let refused = found.covers.filter { $0.match == .refused }
                    try await covers.allow(refused, of: found.album)
                    count += refused.count
                }
                let files = try await library.removedCovers().map(\.file).filter { file in
                    !reference.contains("://") && albums.contains { $0.1.album.id == file.album }
                }
                let state = files.isEmpty ? nil : try MusicFolderOptions.openState(library.configuration)
                for file in files { try state?.allow(file) }
                count += files.count
                if count == 0 { throw fail("no cover of “\(reference)” was refused or removed") }
                if !options.quiet { Log.info("\(reference): allowed \(Decimals.count(count, "cover"))") }
            }
        }
    }
}
