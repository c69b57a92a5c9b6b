package import CoverLibrary
import Hummingbird
import HummingbirdCore
import NIOCore
import ServerChannels

/// A web view of a library: a page with a scroller of covers that shows each cover when it arrives.
package final class Gallery: Sendable {
    /// The address to open in a browser, with the token if there is one: `http://127.0.0.1:8730/?token=…`.
    package let url: String
    let model: GalleryModel
    private let server: ListeningServer

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
        let access = AccessMiddleware(hosts: hosts, token: options.token, base: options.base)
        let covers = CoverByURLRoute(
            library: library, allowsPrivateAddresses: options.allowsPrivateAddresses)
        do {
            let server = try await ListeningServer.start(label: "sleeve.gallery") { didListen, logger in
                try await Application(
                    router: makeRouter(model, access, covers, base: options.base),
                    server: HTTPServerBuilder { responder in
                        LazyHTTP1Channel(
                            HTTP1Channel(responder: responder),
                            clients: ClientRules(
                                hosts: hosts, timeouts: ConnectionTimeouts(stall: options.clientTimeout)))
                    },
                    // The limit leaves file descriptors for the library.
                    configuration: .init(
                        address: .hostname(options.host, port: options.port), backlog: 1_024,
                        availableConnectionsDelegate: .maximum(ConnectionLimit.connections, logger: logger)),
                    onServerRunning: didListen, logger: logger
                ).run()
            }
            await model.start()
            return Gallery(options, model: model, server: server)
        } catch {
            throw GalleryError.cannotListen(host: options.host, port: options.port, cause: error.reason)
        }
    }

    private init(_ options: GalleryOptions, model: GalleryModel, server: ListeningServer) {
        // A browser cannot open the wildcard address.
        let isWildcard = options.host == "0.0.0.0" || options.host == "::"
        let host = options.names.first ?? (isWildcard ? Self.externalAddress : nil) ?? options.host
        url = server.url(host: host) + options.base.text.dropFirst() + (options.token.map { "?token=\($0)" } ?? "")
        self.model = model
        self.server = server
    }

    /// An IPv4 address by which other machines may reach this one; nil if it has none.
    private static var externalAddress: String? {
        let addresses = ((try? System.enumerateDevices()) ?? []).compactMap(\.address)
        return addresses.first { $0.protocol == .inet && $0.ipAddress?.hasPrefix("127.") == false }?.ipAddress
    }

    /// Ends the pages' event streams and drops the requests in progress: Hummingbird takes up to two seconds to end them.
    package func close() async {
        await model.close()
        try? await server.channel.close()
        server.task.cancel()
    }
}
