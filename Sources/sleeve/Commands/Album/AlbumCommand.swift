import ArgumentParser
import CoverLibrary

struct AlbumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "album",
        abstract: "The albums of your library: show them, add, edit, delete, undo.",
        discussion: """
            An ALBUM is named by its number in the list, its title, or its id; where that could be two, by number:3, title:3 or \
            id:3. Every edit is saved at once and can be taken \
            back, today or next year, whichever program made it: sleeve, the gallery, or another sleeve at the same time.

              sleeve album list
              sleeve album add --title "Low Tide" --artist "The Harbour Lights" --year 1971 --cover-url https://…
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
            "Tell this server of albums added, edited and deleted; while it cannot be had they wait. Default: $SLEEVE_REMOTE.",
            valueName: "url"))
    var remote: String?

    @OptionGroup var options: LibraryOptions

    /// Opens the library, edits it, and tells the remote library.
    /// - Parameter body: what there was to do; nil when there was nothing.
    func edit(nothing: String, _ body: (LibraryAPI) async throws -> AlbumEdit?) async throws {
        var isNothing = false
        // What earlier edits left to be sent is sent all the same.
        try await withLibrary { library in
            if let edit = try await body(library) { try tellEdit(edit) } else { isNothing = true }
        }
        if isNothing { throw fail(nothing) }
    }

    /// Opens the library for `body`, and tells the remote library of what it did.
    func withLibrary(_ body: (LibraryAPI) async throws -> Void) async throws {
        var configuration = try options.configuration()
        configuration.remote = LibraryOptions.variable("SLEEVE_REMOTE", or: remote)
        // A person waits; what cannot be sent at once is sent by the next command.
        configuration.timeout = .seconds(15)
        try await sleeve.withLibrary(configuration) { library in
            try await body(library)
            try await send(library)
        }
    }

    private func tellEdit(_ edit: AlbumEdit) throws {
        if options.json {
            var line = JSONObject()
            line.add("edit", edit.kind.rawValue)
            line.add("message", edit.message)
            line.add("albums", raw: "[" + edit.placed.map(\.album.json).joined(separator: ",") + "]")
            try tell(line.text + "\n")
        } else if !options.quiet {
            try tell("\(edit.message)\n")
        }
    }

    private func send(_ library: LibraryAPI) async throws {
        guard library.configuration.remote != nil else { return }
        let outbox = try await library.sendEdits()
        for refusal in outbox.refused {
            Log.warning("the remote library refused \(refusal)")
        }
        if let problem = outbox.problem, outbox.waiting > 0 {
            let edits = outbox.waiting == 1 ? "1 edit waits" : "\(outbox.waiting) edits wait"
            Log.warning("\(edits) to be sent, the next command with --remote tries again: \(problem)")
        }
        if !outbox.refused.isEmpty { throw ExitStatus.someFailed }
    }
}

/// Opens the library for `body`, and says what went wrong in it.
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
