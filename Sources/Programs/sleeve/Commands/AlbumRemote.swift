import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

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
