import ArgumentParser
import CommandSupport
import CoverGallery
import CoverLibrary

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", _superCommandName: "sleeve",
        abstract: "Show your library in a browser.",
        discussion: """
            Prints an address to open in a browser. Missing covers are downloaded as they come into view. Covers that were \
            shown once are available without a network.

              sleeve serve
              sleeve serve --port 0                          a free port
              sleeve serve --listen 0.0.0.0 --token "$(openssl rand -hex 16)"

            Only programs on this machine can connect. To let other machines in, use --listen and --token; the printed \
            address holds the token and the browser remembers it.
            """)

    @Option(
        help: ArgumentHelp(
            "The secret that browsers must send: letters, digits, - and _, at least 16 if other machines can connect. Default: $SLEEVE_TOKEN.",
            valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "Send album edits to the library at this URL. Default: $SLEEVE_REMOTE, else that of `sleeve album remote`.",
            valueName: "url"))
    var remote: String?

    @Option(
        help: ArgumentHelp(
            "The path of the gallery behind a reverse proxy that passes it on, such as /sleeve/. Default: /.",
            valueName: "path"))
    var base: String?

    @OptionGroup var address: ListenOptions
    @OptionGroup var archive: ArchiveOptions
    @OptionGroup var tier: TierOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if let base, BasePath(base) == nil {
            throw ValidationError("--base needs a path of letters, digits, -, ., _ and ~, such as /sleeve/")
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        try archive.apply(to: &configuration)
        tier.apply(to: &configuration)
        try configuration.setRemote(remote)
        let galleryOptions = try galleryOptions()
        let library = try await openLibrary(configuration)
        let gallery: Gallery
        do {
            // Reports an unreadable library now, not to the first browser.
            try await StarterLibrary.prepare(library)
            gallery = try await Gallery.open(
                library, galleryOptions, review: DoubtfulCoversReview(configuration: library.configuration),
                runs: runs(library.configuration))
        } catch {
            await library.close()
            throw fail("\(error)")
        }
        let hint = options.quiet ? nil : "open this address in a browser; press Ctrl-C to stop"
        try await serve(at: gallery.url, hint: hint) {
            await gallery.close()
            await library.close()
        }
    }

    private func galleryOptions() throws -> GalleryOptions {
        var options = GalleryOptions()
        options.names = address.name
        options.base = base.flatMap(BasePath.init) ?? .root
        options.token = token ?? Environment.value("SLEEVE_TOKEN")
        address.apply(host: &options.host, port: &options.port)
        if let token = options.token, !token.allSatisfy(\.isTokenCharacter) {
            throw fail("the token may only contain letters, digits, - and _, as it is part of an address")
        }
        if !options.isLoopback, options.token?.utf8.count ?? 0 < 16 {
            throw fail(
                "other machines can connect to \(options.host), so set a token: --token \"$(openssl rand -hex 16)\"",
                .validationFailure)
        }
        return options
    }
}

extension Character {
    /// Whether a token may contain the character. It needs no escape in an address.
    fileprivate var isTokenCharacter: Bool { isASCII && (isLetter || isNumber || self == "-" || self == "_") }
}
