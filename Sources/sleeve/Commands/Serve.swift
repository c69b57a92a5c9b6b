import ArgumentParser
import CommandSupport
import CoverGallery
import CoverLibrary

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", _superCommandName: "sleeve",
        abstract: "Show your library in a browser, or mirror a server with --mirror.",
        discussion: """
            Prints an address to open in a browser. Missing covers are downloaded as they come into view. Covers that were \
            shown once are available without a network.

              sleeve serve
              sleeve serve --port 0                          a free port
              sleeve serve --listen 0.0.0.0 --token "$(openssl rand -hex 16)"

            Only programs on this machine can connect. To let other machines in, use --listen and --token; the printed \
            address holds the token and the browser remembers it.

            With --mirror, the command is a caching HTTP proxy in front of one server, for programs in any language. It \
            answers requests to the printed address from the cache by the rules of HTTP, or forwards them to the server and \
            caches the response. It shares its covers with all other commands. With --offline, or if the server is \
            unreachable, it serves stored responses where HTTP allows that, else 504. The response field Cache-Status and \
            --log-level debug show how each request was answered. A mirror uses the options --timeout, --max-size, \
            --capacity, --cacert, --deny-private and --offline, and --user-agent to recognize covers that vary by it; clients \
            send their own. The lower of --per-host and --parallel limits simultaneous requests to the server. Other transfer \
            options are refused.

            A response that is larger than --max-size is passed on without being stored, at the pace of its client. Such \
            responses occupy at most half of the simultaneous requests. A client that makes no progress for 30 seconds is \
            disconnected. Bodies of requests beyond 128 MiB in all are answered with 503.

            After three failures in a row the mirror only probes the server from time to time. Until it recovers, clients get \
            stale responses immediately where HTTP allows that, else 504 with Retry-After. The server's own Retry-After is obeyed.

            A mirror is a private cache without a password: every client can get what another one has requested. Only \
            programs on this machine can connect. To let other machines in, use --listen and --name. That holds for servers with \
            a login, too: a cover that one client got with its user and token from a Subsonic server (getCoverArt) is served from the \
            cache to clients without them.

              sleeve serve --mirror https://covers.example.org --port 8732
              curl http://127.0.0.1:8732/a/cover.jpg -o cover.jpg
            """)

    @Option(
        help: ArgumentHelp(
            "Mirror this server, or a path on it, instead of showing the gallery.", valueName: "url"))
    var mirror: String?

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
        if mirror != nil { try validateMirror() }
        if let base, BasePath(base) == nil {
            throw ValidationError("--base needs a path of letters, digits, -, ., _ and ~, such as /sleeve/")
        }
    }

    func run() async throws {
        if let mirror { return try await runMirror(of: mirror) }
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
