package import CoverLibrary
import Platform
import WebServer

/// A web view of a library: a page with a scroller of covers that shows each cover when it arrives.
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
