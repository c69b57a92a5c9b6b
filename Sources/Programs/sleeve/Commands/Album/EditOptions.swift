import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

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
            if let edit = try await body(library) { try printEdit(edit, origin) } else { isNothing = true }
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

    private func printEdit(_ edit: AlbumEdit, _ origin: AlbumEdit.Origin) throws {
        let message = edit.message(origin)
        try options.printResult(
            Summary(edit: edit.kind, message: message, albums: edit.changes.map(\.album)),
            text: "\(message)\n")
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
