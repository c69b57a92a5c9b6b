import ArgumentParser
import CoverLibrary

struct AlbumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "album",
        abstract: "List, show, add, edit, delete, import and export the albums of your library.",
        discussion: """
            Name an ALBUM by its number in the list, its title or its id. If that matches several albums, write number:3, \
            title:3 or id:3.

            Every edit is saved at once and stays undoable, also after a restart, whether this command or the gallery made it.

              sleeve album list
              sleeve album add --title "Low Tide" --year 1971 --cover-url https://…
              sleeve album edit 3 --year 1972 --cover-url https://…
              sleeve album delete 3
              sleeve album undo
              sleeve album import more.csv
              sleeve album list --json | sleeve prefetch -
            """,
        subcommands: [
            AlbumList.self, AlbumShow.self, AlbumAdd.self, AlbumChange.self, AlbumDelete.self, AlbumUndo.self,
            AlbumRedo.self, AlbumImport.self, AlbumExport.self,
        ])
}

/// Options of the commands that edit albums.
struct EditOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send album edits to the library at this URL. While it is unreachable, edits are queued. Default: $SLEEVE_REMOTE.",
            valueName: "url"))
    var remote: String?

    @OptionGroup var options: LibraryOptions

    /// Opens the library, edits it, and sends the edit to the remote library.
    /// - Parameters:
    ///   - nothing: the error if there was nothing to do.
    ///   - origin: how the step came to be taken.
    ///   - body: takes the step; nil if there was nothing to do.
    func edit(
        nothing: String, _ origin: AlbumEdit.Origin = .new, _ body: (LibraryAPI) async throws -> AlbumEdit?
    ) async throws {
        var isNothing = false
        // Queued edits are sent even if there was nothing to do.
        try await withLibrary { library in
            if let edit = try await body(library) { try printEdit(edit, origin) } else { isNothing = true }
        }
        if isNothing { throw fail(nothing) }
    }

    /// Opens the library for `body`, then sends queued edits to the remote library.
    func withLibrary(_ body: (LibraryAPI) async throws -> Void) async throws {
        var configuration = try options.configuration()
        configuration.remote = LibraryOptions.variable("SLEEVE_REMOTE", or: remote)
        // A person is waiting. What cannot be sent now is sent by the next command.
        configuration.timeout = .seconds(15)
        try await sleeve.withLibrary(configuration) { library in
            try await body(library)
            try await send(library)
        }
    }

    private func printEdit(_ edit: AlbumEdit, _ origin: AlbumEdit.Origin) throws {
        let message = edit.message(origin)
        if options.json {
            var line = JSONObject()
            line.add("edit", edit.kind.rawValue)
            line.add("message", message)
            line.add("albums", raw: "[" + edit.changes.map(\.album.json).joined(separator: ",") + "]")
            try tell(line.text + "\n")
        } else if !options.quiet {
            try tell("\(message)\n")
        }
    }

    private func send(_ library: LibraryAPI) async throws {
        guard library.configuration.remote != nil else { return }
        let outbox = try await library.albums.sendEdits()
        for refusal in outbox.refused {
            Log.warning("the remote library refused \(refusal)")
        }
        if let problem = outbox.problem, outbox.waiting > 0 {
            let edits = outbox.waiting == 1 ? "1 edit" : "\(outbox.waiting) edits"
            Log.warning("\(problem); \(edits) queued, sent with your next --remote command")
        }
        if !outbox.refused.isEmpty { throw ExitStatus.someFailed }
    }
}

/// Opens the library for `body`, closes it, and reports errors.
func withLibrary(_ configuration: LibraryConfiguration, _ body: (LibraryAPI) async throws -> Void) async throws {
    if configuration.libraryFile.isEmpty { throw fail(LibraryOptions.homelessLibrary) }
    let library = try await openLibrary(configuration)
    do {
        try await body(library)
    } catch let error as LibraryError {
        await library.close()
        throw fail(error.message)
    } catch {
        await library.close()
        throw error
    }
    await library.close()
}
