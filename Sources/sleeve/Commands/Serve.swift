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
        abstract: "The gallery: your library in a browser. Or a mirror: an HTTP cache before a server.",
        discussion: """
            Prints one address to open. Covers that are missing are fetched as they come into view, and appear as they \
            arrive; what has been seen once is there without a network.

              sleeve serve
              sleeve serve --port 0                          a free port
              sleeve serve --listen 0.0.0.0 --token "$(openssl rand -hex 16)"

            Only this machine can connect, unless --listen says otherwise; then a token is needed, which the printed \
            address holds and the browser remembers.

            With --mirror it is an HTTP cache before one server instead, for programs in any language: what they ask of \
            the printed address is answered from the cache by HTTP's own rules, else fetched from that server and kept. \
            Covers are the same for all commands. With --offline, or when the server is away, what is stored is given \
            where HTTP allows it, else 504. The field Cache-Status says what happened to each request, and so does \
            --log-level debug. Of the options for transfers --timeout, --max-size, --capacity, --cacert, \
            --deny-private and --offline count, and the lower of --per-host and --parallel is how many requests are on \
            their way to the server at the most; the others are refused.

            A server that fails three times in a row is only probed now and then: until it is back, who may be given what \
            is stale gets that at once, and others 504 with Retry-After. The server's own Retry-After is obeyed, too.

            It asks for no password, so only this machine can connect, unless --listen says otherwise and --name by which \
            name it is called. It is for one person's programs: what one of them was given, others are given too.

              sleeve serve --mirror https://covers.example.org --port 8732
              curl http://127.0.0.1:8732/a/cover.jpg -o cover.jpg
            """)

    @Option(
        help: ArgumentHelp(
            "Be a mirror of this server, or of a folder of it, instead of the gallery.", valueName: "url"))
    var mirror: String?

    @Option(
        help: ArgumentHelp(
            "Port to listen on; 0 takes a free one. Default: 8730, of a mirror 8732.", valueName: "port"))
    var port: Int?

    @Option(
        help: ArgumentHelp(
            "Listen on this address of this machine, or address:port. Default: 127.0.0.1.", valueName: "address"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "What browsers must show, at least 16 characters. Default: $SLEEVE_TOKEN.", valueName: "token"))
    var token: String?

    @Option(help: ArgumentHelp("A name this server may be called by; may be repeated.", valueName: "name"))
    var name: [String] = []

    @Option(
        help: ArgumentHelp(
            "Tell this server of albums added and deleted. Default: $SLEEVE_REMOTE.", valueName: "url"))
    var remote: String?

    @OptionGroup var archive: ArchiveOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        guard (0...65_535).contains(port ?? 0) else { throw ValidationError("--port must be between 0 and 65535") }
        if let listen, Self.split(listen) == nil { throw ValidationError("--listen needs an address, or address:port") }
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
            // A library that cannot be read is said here, not to the first browser.
            _ = try await library.albums
            gallery = try await Gallery.open(library, galleryOptions)
        } catch {
            await library.close()
            throw fail("\(error)")
        }
        let stopped = Signals.stream()
        try tell("\(gallery.url)\n")
        if !options.quiet {
            Log.info("open this address in a browser; stop with Ctrl-C")
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
            throw fail("the token may hold letters, digits, - and _ only: it is part of an address")
        }
        if !options.isLoopback, options.token?.utf8.count ?? 0 < 16 {
            throw fail(
                "others can connect to \(options.host), so a token is needed: --token \"$(openssl rand -hex 16)\"",
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
