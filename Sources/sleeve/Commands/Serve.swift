import ArgumentParser
import CoverGallery
import CoverLibrary

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
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
            --capacity, --cacert, --deny-private and --offline. The lower of --per-host and --parallel limits simultaneous \
            requests to the server. Other transfer options are refused.

            After three failures in a row the mirror only probes the server from time to time. Until it recovers, clients get \
            stale responses at once where HTTP allows that, else 504 with Retry-After. The server's own Retry-After is obeyed.

            A mirror is a private cache without a password: every client can get what another one has requested. Only \
            programs on this machine can connect. To let other machines in, use --listen and --name.

              sleeve serve --mirror https://covers.example.org --port 8732
              curl http://127.0.0.1:8732/a/cover.jpg -o cover.jpg
            """)

    @Option(
        help: ArgumentHelp(
            "Mirror this server, or a path on it, instead of showing the gallery.", valueName: "url"))
    var mirror: String?

    @Option(
        help: ArgumentHelp(
            "The port to listen on; 0 chooses a free one. Default: 8730, for a mirror 8732.", valueName: "port"))
    var port: Int?

    @Option(
        help: ArgumentHelp(
            "The address to listen on, or address:port. 0.0.0.0 lets other machines connect. Default: 127.0.0.1.",
            valueName: "address"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "The secret that browsers must send, at least 16 characters. Default: $SLEEVE_TOKEN.", valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "A host name that clients use for this server. Repeat the option for more names.", valueName: "name"))
    var name: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send album edits to the library at this URL. Default: $SLEEVE_REMOTE.", valueName: "url"))
    var remote: String?

    @OptionGroup var archive: ArchiveOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        guard (0...65_535).contains(port ?? 0) else { throw ValidationError("--port must be between 0 and 65535") }
        if let listen, Self.split(listen) == nil { throw ValidationError("--listen needs an address or address:port") }
        if mirror != nil { try validateMirror() }
    }

    func run() async throws {
        if let mirror { return try await runMirror(of: mirror) }
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        archive.apply(to: &configuration)
        configuration.remote = LibraryOptions.variable("SLEEVE_REMOTE", or: remote)
        let galleryOptions = try galleryOptions()
        let library = try await openLibrary(configuration)
        let gallery: Gallery
        do {
            // Reports an unreadable library now, not to the first browser.
            _ = try await library.albums.all()
            gallery = try await Gallery.open(library, galleryOptions)
        } catch {
            await library.close()
            throw fail("\(error)")
        }
        let stopped = Signals.stream()
        try tell("\(gallery.url)\n")
        if !options.quiet {
            Log.info("open this address in a browser; press Ctrl-C to stop")
        }
        let signal = await stopped.first { _ in true } ?? 0
        await gallery.close()
        await library.close()
        throw ExitStatus.stopped(by: signal)
    }

    private func galleryOptions() throws -> GalleryOptions {
        var options = GalleryOptions()
        options.names = name
        options.token = LibraryOptions.variable("SLEEVE_TOKEN", or: token)
        if let listen, let (host, port) = Self.split(listen) {
            options.host = host
            if let port { options.port = port }
        }
        if let port { options.port = port }
        if let token = options.token, !token.utf8.allSatisfy(Self.isPlain) {
            throw fail("the token may only contain letters, digits, - and _, as it is part of an address")
        }
        if !options.isLoopback, options.token?.utf8.count ?? 0 < 16 {
            throw fail(
                "other machines can connect to \(options.host), so set a token: --token \"$(openssl rand -hex 16)\"",
                .validationFailure)
        }
        return options
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        Character(UnicodeScalar(byte)).isASCIIWord
    }

    /// `0.0.0.0`, `0.0.0.0:80`, `::1`, `[::1]:80`, `nas.local:80`.
    static func split(_ text: String) -> (host: String, port: Int?)? {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return (host, nil) }
            guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else { return nil }
            return (host, Int(port))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return text.isEmpty ? nil : (text, nil)
        case 2: return UInt16(parts[1]).flatMap { parts[0].isEmpty ? nil : (String(parts[0]), Int($0)) }
        default: return (text, nil)
        }
    }
}

extension Character {
    fileprivate var isASCIIWord: Bool { isASCII && (isLetter || isNumber || self == "-" || self == "_") }
}
