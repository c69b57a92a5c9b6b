import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct AlbumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "album",
        abstract: "The albums of your library: list, add, edit, delete, undo, import, scan folders.",
        discussion: """
              sleeve album list
              sleeve album add --title "Low Tide" --year 1971 --cover-url https://…
              sleeve album scan ~/Music

            Name an ALBUM by its number in the list, its title, its id or its folder. If that matches several albums, write number:3, \
            title:3 or id:3.

            Every edit is saved immediately. It can be undone, even after a restart, whether this command or the gallery made it.
            """,
        subcommands: [
            AlbumList.self, AlbumShow.self, AlbumAdd.self, AlbumChange.self, AlbumDelete.self, AlbumUndo.self,
            AlbumRedo.self, AlbumImport.self, AlbumScan.self, AlbumRemote.self,
        ])
}

struct AlbumAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", _superCommandName: "sleeve album",
        abstract: "Add an album.",
        discussion: """
              sleeve album add --title "Low Tide" --year 1971 --cover-url https://…
              sleeve album add --title "Low Tide" --artist "The Harbour Lights" --at 1
            """)

    @Option(help: "The title; required.")
    var title: String

    @Option(
        help: ArgumentHelp(
            "The URL of its cover. Repeat the option for alternatives, tried in order.", valueName: "url"))
    var coverUrl: [String] = []

    @OptionGroup var fields: AlbumFields

    @Option(help: ArgumentHelp("Insert it as this number in the list. (default: at the end)", valueName: "n"))
    var at: Int?

    @OptionGroup var editing: EditOptions

    func validate() throws {
        if let at, at < 1 { throw ValidationError("--at must be 1 or more: albums are numbered from 1") }
        do throws(AlbumProblem) { _ = try album() } catch { throw ValidationError(error.optionMessage) }
    }

    func run() async throws {
        let album = try album()
        try await editing.edit(nothing: "nothing was added") { library in
            try await library.albums.insert(album, at: at.map { $0 - 1 })
        }
    }

    private func album() throws(AlbumProblem) -> Album {
        var album = Album(title: title, artist: "", genre: "", coverURL: coverUrl.first, year: "")
        album.alternateCoverURLs = Array(coverUrl.dropFirst())
        fields.apply(to: &album)
        return try album.validated()
    }
}

struct AlbumChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", _superCommandName: "sleeve album",
        abstract: "Change fields of an album.",
        discussion: """
            Fields that are not given stay as they are, and the album keeps its place. An empty text clears a field: --genre "".
            """)

    @Argument(help: "Number, title, id or folder of the album.")
    var album: AlbumReference

    @Option(help: "The new title.")
    var title: String?

    @Option(
        help: ArgumentHelp(
            "The URL of its cover. Repeat the option to replace the alternatives, tried in order.",
            valueName: "url"))
    var coverUrl: [String] = []

    @OptionGroup var fields: AlbumFields
    @OptionGroup var editing: EditOptions

    func validate() throws {
        if title == nil, coverUrl.isEmpty, fields.isEmpty {
            throw ValidationError(
                "nothing to change: give --title, --artist, --genre, --year, --cover-url, --release-id or "
                    + "--release-group-id")
        }
    }

    func run() async throws {
        try await editing.edit(nothing: "nothing was changed: the album has these values already") { library in
            let albums = try await library.albums.all()
            let former = try album.album(in: albums, of: library)
            do {
                return try await library.albums.edit(former.id) { album in
                    apply(to: &album)
                    album = try album.validated(editing: former)
                }
            } catch let problem as AlbumProblem {
                throw fail(problem.optionMessage, .validationFailure)
            }
        }
    }

    private func apply(to album: inout Album) {
        if let title { album.title = title }
        if let first = coverUrl.first { album.coverURL = first }
        // A single URL replaces the first one; the alternatives stay.
        if coverUrl.count > 1 { album.alternateCoverURLs = Array(coverUrl.dropFirst()) }
        fields.apply(to: &album)
    }
}

struct AlbumDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", _superCommandName: "sleeve album", abstract: "Delete albums from the library.",
        discussion: """
            `sleeve album undo` restores them. Cached covers are kept.

              sleeve album delete "Night Ferry"
              sleeve album delete 3 4 title:1999
            """)

    @Argument(help: "Numbers, titles, ids or folders of albums.")
    var albums: [AlbumReference]

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "another program has deleted them already") { library in
            let all = try await library.albums.all()
            return try await library.albums.delete(albums.map { try $0.album(in: all, of: library).id })
        }
    }
}

struct AlbumUndo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", _superCommandName: "sleeve album",
        abstract: "Undo the last edit; again, the one before it.")

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "there is nothing to undo", .undo) { try await $0.albums.undo() }
    }
}

struct AlbumRedo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", _superCommandName: "sleeve album", abstract: "Redo the edit that was undone last.")

    @OptionGroup var editing: EditOptions

    func run() async throws {
        try await editing.edit(nothing: "there is nothing to redo", .redo) { try await $0.albums.redo() }
    }
}

/// Fields of an album that `add` and `edit` set.
struct AlbumFields: ParsableArguments {
    @Option(help: "The artist.")
    var artist: String?

    @Option(help: "The genre.")
    var genre: String?

    @Option(help: "The year of release, four digits.")
    var year: String?

    @Option(help: ArgumentHelp("MusicBrainz release ID, to find a cover in the Cover Art Archive.", valueName: "uuid"))
    var releaseId: String?

    @Option(
        help: ArgumentHelp(
            "MusicBrainz release-group ID, the last place to look for a cover.", valueName: "uuid"))
    var releaseGroupId: String?

    var isEmpty: Bool { [artist, genre, year, releaseId, releaseGroupId].allSatisfy { $0 == nil } }

    /// Sets the fields that were given. An empty text clears a field.
    func apply(to album: inout Album) {
        if let artist { album.artist = artist }
        if let genre { album.genre = genre }
        if let year { album.year = year }
        if let releaseId { album.musicBrainzReleaseID = releaseId.isEmpty ? nil : releaseId }
        if let releaseGroupId { album.musicBrainzReleaseGroupID = releaseGroupId.isEmpty ? nil : releaseGroupId }
    }
}

extension AlbumProblem {
    /// The problem, with the option that sets the field.
    var optionMessage: String {
        let option =
            switch field {
            case "coverUrl", "coverUrls": "cover-url"
            case "musicBrainzReleaseId": "release-id"
            case "musicBrainzReleaseGroupId": "release-group-id"
            default: field
            }
        return "--\(option): \(message)"
    }
}

/// Options of the commands that edit albums.
struct EditOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send album edits to the library at this URL; while it is unreachable, they are queued. (default: $SLEEVE_REMOTE, else that of `sleeve album remote`)",
            valueName: "url", visibility: .hidden))
    var remote: String?

    @OptionGroup var options: LibraryOptions

    func validate() throws {
        // Swift repairs such arguments, and the library would keep U+FFFD instead of the letters.
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else {
                continue
            }
            throw ValidationError(
                "“\(String(cString: argument))” is not UTF-8; use a UTF-8 locale, or convert it with iconv")
        }
    }

    /// Opens the library, edits it, and sends queued edits to the remote library.
    /// - Parameters:
    ///   - nothing: The error message if there was nothing to do.
    ///   - origin: Whether the edit is new, undone or redone.
    ///   - body: Makes the edit; returns nil if there was nothing to do.
    /// - Throws: An exit code, after an error message.
    func edit(
        nothing: String, _ origin: AlbumEdit.Origin = .new, _ body: (LibraryAPI) async throws -> AlbumEdit?
    ) async throws {
        var isNothing = false
        // Queued edits are sent even if there was nothing to do.
        try await withLibrary { library in
            guard let edit = try await body(library) else { return isNothing = true }
            let message = edit.message(origin)
            try options.printResult(
                Summary(edit: edit.kind, message: message, albums: edit.changes.map(\.album)), text: "\(message)\n")
        }
        if isNothing { throw fail(nothing) }
    }

    /// Opens the library for `body`, then sends queued edits to the remote library.
    func withLibrary(_ body: (LibraryAPI) async throws -> Void) async throws {
        var configuration = try options.configuration()
        try configuration.setRemote(remote)
        // A person is waiting, and the next command sends edits that cannot be sent now.
        configuration.timeout = .seconds(15)
        if configuration.remote != nil { ProcessSetup.prepareForTransfers() }
        try await withAlbums(configuration) { library in
            try await body(library)
            try await send(library)
        }
    }

    private struct Summary: Encodable {
        let edit: AlbumEdit.Kind
        let message: String
        let albums: [Album]
    }

    /// Sends queued edits to the remote library.
    func send(_ library: LibraryAPI) async throws {
        guard let remote = library.configuration.remote?.absoluteString else { return }
        let outbox = try await library.albums.sendEdits()
        for refusal in outbox.refused {
            Log.warning("the remote library refused \(refusal)")
        }
        if let problem = outbox.problem, outbox.waiting > 0 {
            Log.warning(
                "\(problem); \(Decimals.count(outbox.waiting, "edit")) queued, sent with your next edit")
        } else if outbox.sent > 0, !options.quiet {
            Log.info("sent \(Decimals.count(outbox.sent, "edit")) to \(remote)")
        }
        if !outbox.refused.isEmpty { throw ExitStatus.someFailed }
    }
}

struct AlbumRemote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote", _superCommandName: "sleeve album",
        abstract: "Show or set the library that receives every edit.",
        discussion: """
            The library remembers the URL: later edits, by any command and in the gallery, are posted to it, and queued while \
            it is unreachable. `sleeve serve --remote` sets it, too; --remote of other commands and $SLEEVE_REMOTE override it.

              sleeve album remote https://music.example.org
              sleeve album remote --none
            """)

    @Argument(help: "The URL of the remote library. (default: show the one that is set)")
    var url: String?

    @Flag(help: "Send edits nowhere. Queued edits stay in the queue.")
    var none = false

    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if none, url != nil { throw ValidationError("give a URL or --none, not both") }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try configuration.requireLibraryFile()
        let former = RememberedRemote.url(of: configuration.libraryPath)
        guard none || url != nil else {
            if options.quiet, former == nil { return }
            return try show(former, former.map { "\($0)\n" } ?? "This library has no remote library.\n")
        }
        configuration.remote = try (url ?? former).map { try URL($0, option: "album remote") }
        var waiting = 0
        // Checks the URL.
        try await withLibrary(configuration) { waiting = try await $0.albums.waitingEdits() }
        try RememberedRemote.set(url, of: configuration.libraryPath)
        if options.quiet, !options.json { return }
        var queued = ""
        if waiting > 0, url == nil { queued = "; queued for \(former ?? ""): \(Decimals.count(waiting, "edit"))" }
        try show(url, (url.map { "Edits are sent to \($0)" } ?? "Edits are sent nowhere\(queued)") + "\n")
    }

    private func show(_ url: String?, _ text: String) throws {
        if options.json { try printJSON(Summary(remote: url)) } else { try printResult(text) }
    }

    private struct Summary: Encodable { let remote: String? }
}

extension LibraryConfiguration {
    /// Sets the remote library: that of `--remote`, else of `$SLEEVE_REMOTE`, else the one that the library remembers.
    /// - Throws: An exit code, after an error message, if its URL cannot be used.
    mutating func setRemote(_ option: String?) throws {
        let given = option ?? Environment.value("SLEEVE_REMOTE")
        let remembered = libraryFile == nil ? nil : RememberedRemote.url(of: libraryPath)
        remote = try (given ?? remembered).map { try URL($0, option: given == nil ? "album remote" : "--remote") }
    }
}
