import ArgumentParser
import CommandSupport
import CoverGallery
import CoverLibrary
import Logging
import MusicFolder
import OriginServer
import Platform

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", _superCommandName: "sleeve",
        abstract: "Show your library in a browser, here or elsewhere.",
        discussion: """
              sleeve serve
              sleeve serve --port 0                          a free port
              sleeve serve --listen 0.0.0.0                  other machines, too

            Prints an address to open in a browser. Missing covers are downloaded as they come into view. Covers that were \
            shown once are available without a network.

            The printed address holds a token, which the browser remembers. It is made by the first start and kept beside the library, so bookmarks \
            stay valid. --no-token is for machines without other users.

            Other programs get covers at cover?url=URL, from the cache, else downloaded, with the token in a field \
            Authorization: Bearer TOKEN. Addresses that are not on the open Internet are refused there, unless --allow-private is given.
            """)

    @OptionGroup(title: "Who may connect, and where") var server: Server
    @OptionGroup(visibility: .hidden) var archive: ArchiveOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Cache and library") var store: CapacityOptions
    @OptionGroup var options: LibraryOptions

    struct Server: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The secret that browsers and programs must send: at least 16 letters, digits, - and _. (default: $SLEEVE_TOKEN, else one that is kept beside the library)",
                valueName: "token"))
        var token: String?

        @Flag(
            name: .customLong("no-token"),
            help: "Require no token: every program and user of this machine may use the gallery.")
        var needsNoToken = false

        @Flag(help: "Let cover?url= connect to addresses of this machine and its network.")
        var allowPrivate = false

        @Option(
            help: ArgumentHelp(
                "Send album edits to the library at this URL, and remember it as `sleeve album remote` does. (default: $SLEEVE_REMOTE, else what is remembered)",
                valueName: "url", visibility: .hidden))
        var remote: String?

        @Option(
            help: ArgumentHelp(
                "The path of the gallery behind a reverse proxy that passes it on, such as /sleeve/. (default: /)",
                valueName: "path"))
        var base: String?

        @Option(
            help: ArgumentHelp("The port to listen on; 0 chooses a free one. (default: 8730)", valueName: "port"))
        var port: Int?

        @Option(
            help: ArgumentHelp(
                "The address to listen on, or address:port; 0.0.0.0 lets other machines connect. (default: 127.0.0.1)",
                valueName: "address"))
        var listen: String?

        @Option(
            help: ArgumentHelp(
                "A host name by which clients know this server. Repeat the option for more.", valueName: "name"))
        var serverName: [String] = []

        func validate() throws {
            guard (0...65_535).contains(port ?? 0) else { throw ValidationError("--port must be between 0 and 65535") }
            if let listen, hostAndPort(listen) == nil {
                throw ValidationError("--listen needs an address or address:port")
            }
            if let base, BasePath(base) == nil {
                throw ValidationError("--base needs a path of letters, digits, -, ., _ and ~, such as /sleeve/")
            }
            if needsNoToken, token != nil { throw ValidationError("Use either --token or --no-token.") }
        }
    }

    func validate() throws {
        if server.allowPrivate, network.denyPrivate {
            throw ValidationError("Use either --allow-private or --deny-private.")
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        keys.apply(to: &configuration)
        try archive.apply(to: &configuration)
        store.apply(to: &configuration)
        try configuration.setRemote(server.remote)
        var galleryOptions = try galleryOptions()
        try check(configuration.remote, galleryOptions)
        let library = try await openLibrary(configuration)
        let gallery: Gallery
        do {
            // Edits that are queued when the gallery ends go there with the next command.
            if let remote = server.remote { try RememberedRemote.set(remote, of: configuration.libraryPath) }
            if !server.needsNoToken { galleryOptions.token = galleryOptions.token ?? keptToken(library.configuration) }
            gallery = try await Gallery.open(
                library, galleryOptions, review: DoubtfulCoversReview(library: library),
                runs: runs(library.configuration))
            do {
                // Reports an unreadable library now, not to the first browser. Where it can't listen, it creates none.
                try await StarterLibrary.prepare(library)
            } catch {
                await gallery.close()
                throw error
            }
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
        options.names = server.serverName
        options.base = server.base.flatMap(BasePath.init) ?? .root
        let listen = server.listen.flatMap(hostAndPort)
        options.host = listen?.host ?? options.host
        options.port = server.port ?? listen?.port ?? options.port
        options.allowsPrivateAddresses = server.allowPrivate
        if server.needsNoToken {
            if options.isLoopback { return options }
            throw fail(
                "--no-token works only with an address of this machine alone, not \(options.host)", .validationFailure)
        }
        let given = server.token ?? Environment.value("SLEEVE_TOKEN")
        if let given, !GalleryToken.isValid(given) {
            throw fail("the token must have at least 16 letters, digits, - and _", .validationFailure)
        }
        options.token = given
        return options
    }

    /// - Throws: An exit code, after an error message, if the gallery would send its edits to itself.
    private func check(_ remote: URL?, _ gallery: GalleryOptions) throws {
        guard let remote, let host = remote.host()?.lowercased() else { return }
        let own = [gallery.host, "localhost", "127.0.0.1", "::1", "[::1]"] + gallery.names
        guard (remote.port ?? (remote.scheme == "https" ? 443 : 80)) == gallery.port, own.contains(host) else { return }
        throw fail(
            "the remote library \(remote) is this gallery itself, which takes no edits from there; name another server, or none with `sleeve album remote --none`"
        )
    }

    /// The token that is kept beside the library; a new one if there is no place for it.
    private func keptToken(_ configuration: LibraryConfiguration) -> String {
        let folder = AlbumStore.stateDirectory(of: configuration.libraryPath)
        do throws(SystemError) {
            return try GalleryToken.kept(in: folder)
        } catch {
            configuration.logger.warning(
                "the token in the address holds until the gallery ends, as \(folder) cannot keep it: \(error)")
            return GalleryToken.random()
        }
    }
}

/// The starter albums, for a person who opens the gallery or starts a prefetch before there is a library. Commands that read one create none: a
/// mistyped path would bring invented albums into lists and exports.
enum StarterLibrary {
    /// Creates the library file with the starter albums if there is none, and puts the starters' covers into the cache if they are
    /// not there: nothing serves them.
    /// - Throws: `LibraryError` if the library file cannot be read or created.
    static func prepare(_ library: LibraryAPI) async throws {
        let path = library.configuration.libraryPath
        if try AlbumFile.createStarters(path) {
            library.configuration.logger.notice(
                "created \(path) with twelve starter albums; `sleeve album delete` removes them")
        }
        for url in try await library.albums.all().compactMap(\.coverURL) {
            guard let slug = StarterAlbums.slug(of: url), let bytes = CoverImage.starter(slug),
                let location = URL(string: url)
            else { continue }
            do throws(CoverFailure) {
                if try await library.cachedCover(for: location) == nil {
                    try await library.store(Data(bytes), for: location)
                }
            } catch {
                // The command reports the cover as missing.
                library.configuration.logger.warning("cannot store the cover of a starter album: \(error.detail)")
                return
            }
        }
    }
}
