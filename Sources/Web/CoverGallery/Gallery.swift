package import CoverLibrary
import Files
package import Platform
import WebServer

/// A web view of a library: a page with a wall of covers that shows each cover when it arrives.
package final class Gallery: Sendable {
    /// The address to open in a browser, with the token if there is one: `http://127.0.0.1:8730/?token=…`.
    package let url: String
    let model: GalleryModel
    private let server: Server

    /// Opens a gallery. It listens when this returns.
    /// - Parameters:
    ///   - review: Covers that await a decision; nil if the program has no sources.
    ///   - runs: What pages can start.
    /// - Throws: `GalleryError`.
    package static func open(
        _ library: LibraryAPI, _ options: GalleryOptions, review: (any CoverReview)? = nil,
        runs: [any GalleryRun] = []
    ) async throws -> Gallery {
        guard options.token.map(GalleryToken.isValid) ?? options.isLoopback else {
            throw GalleryError.needsToken(host: options.host)
        }
        let model = GalleryModel(library: library, review: review, runs: runs)
        let hosts = AllowedHosts(listening: options.host, names: options.names)
        let access = AccessRules(hosts: hosts, token: options.token, base: options.base)
        let covers = CoverByURLRoute(
            library: library, allowsPrivateAddresses: options.allowsPrivateAddresses)
        do {
            let server = try Server(
                host: options.host, port: options.port, hosts: hosts,
                timeouts: ConnectionTimeouts(stall: options.clientTimeout),
                GalleryResponder(model, access, covers, base: options.base))
            await model.start()
            return Gallery(options, model: model, server: server)
        } catch {
            throw GalleryError.cannotListen(host: options.host, port: options.port, cause: error.reason)
        }
    }

    private init(_ options: GalleryOptions, model: GalleryModel, server: Server) {
        // A browser cannot open the wildcard address.
        let isWildcard = options.host == "0.0.0.0" || options.host == "::"
        let host = options.names.first ?? (isWildcard ? Server.externalAddress : nil) ?? options.host
        url = server.url(host: host) + options.base.text.dropFirst() + (options.token.map { "?token=\($0)" } ?? "")
        self.model = model
        self.server = server
    }

    /// Ends the pages' event streams, and drops the requests in progress.
    package func close() async {
        await model.close()
        await server.close()
    }
}

/// Where a gallery listens and which requests it answers.
package struct GalleryOptions: Sendable {
    /// The address or host name to listen on.
    package var host = "127.0.0.1"
    /// 0 chooses a free port.
    package var port = 8_730
    /// The secret that browsers and programs must send (`GalleryToken.isValid`). Nil only if `isLoopback`: every program and user of this machine
    /// may then use the gallery.
    package var token: String?
    /// Host names by which browsers may address the gallery, in addition to `localhost` and IP addresses.
    package var names: [String] = []
    /// The path below which the gallery answers, as a reverse proxy passes it on.
    package var base = BasePath.root
    /// Whether `cover?url=` may connect to addresses that are not on the open Internet.
    package var allowsPrivateAddresses = false
    /// A browser that stops reading a response, or stops sending a request's body, is disconnected after this. Above 0.
    package var clientTimeout: Duration = .seconds(30)

    package init() {}

    /// Whether only this machine can connect.
    package var isLoopback: Bool { AllowedHosts.isLoopback(host) }
}

/// The reason why a gallery cannot be opened.
package enum GalleryError: Error, Sendable, CustomStringConvertible {
    case cannotListen(host: String, port: Int, cause: String)
    case needsToken(host: String)

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause): "cannot listen on \(host):\(port): \(cause)"
        case .needsToken(let host): "the gallery at \(host) needs a token of at least 16 letters, digits, - and _"
        }
    }
}

/// The secret that browsers and programs send to a gallery. Its address holds it.
package enum GalleryToken {
    /// In characters.
    private static let minimumLength = 16
    private static let fileName = FileName("token")!

    /// Whether a text may be a token: at least 16 letters, digits, - and _, which need no escape in an address or a cookie.
    package static func isValid(_ text: String) -> Bool {
        text.utf8.count >= minimumLength
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }

    /// A new token: 128 bits of the system's random source.
    package static func random() -> String {
        var source = SystemRandomNumberGenerator()
        return (0..<16).map { _ in
            let byte = UInt8.random(in: 0...255, using: &source)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The token in the file `token` of a folder, which only its owner may read. The first call makes it, so that bookmarks and installed pages
    /// outlive the program. A file of another account, or that others may read, is replaced.
    /// - Parameter path: The folder; created if it is missing.
    /// - Throws: `SystemError`.
    package static func kept(in path: String) throws(SystemError) -> String {
        try OwnedPath.makeFolders(path)
        let folder = try OpenFolder(path: path)
        if let token = read(folder) { return token }
        let token = random()
        let file = try NewFile(in: folder, mode: 0o600)
        try file.write(Array((token + "\n").utf8))
        try file.sync()
        do throws(SystemError) {
            try file.commit(as: fileName)
        } catch {
            guard error.cause == .exists else { throw error }
            // Another process was first, or the file is none that can be used.
            if let token = read(folder) { return token }
            try file.commit(as: fileName, replacing: true)
        }
        try folder.sync()
        return token
    }

    private static func read(_ folder: OpenFolder) -> String? {
        do throws(SystemError) {
            let file = try folder.file(fileName)
            guard file.status.st_uid == geteuid(), file.status.st_mode & 0o077 == 0 else { return nil }
            let token = String(decoding: try file.bytes(at: 0, count: 256), as: UTF8.self).filter { $0 != "\n" }
            return isValid(token) ? token : nil
        } catch {
            return nil
        }
    }
}
