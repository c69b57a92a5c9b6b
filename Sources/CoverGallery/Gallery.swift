package import CoverLibrary
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServerChannels

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A web view over a library: a page with a scroller of covers that shows them as they arrive.
package final class Gallery: Sendable {
    /// Its root: `http://127.0.0.1:8730/`, with the token where there is one.
    package let url: String
    let hall: Hall
    private let listener: any Channel
    private let running: Task<Void, any Error>

    /// Opens a gallery. It is listening when this returns.
    /// - Throws: `GalleryError`.
    package static func open(_ library: LibraryAPI, _ options: GalleryOptions) async throws -> Gallery {
        guard options.isLoopback || options.token?.utf8.count ?? 0 >= 16 else {
            throw GalleryError.needsToken(host: options.host)
        }
        let hall = Hall(library: library)
        // Hummingbird tells of every request; what a person should know is told by the commands.
        var logger = Logger(label: "sleeve.gallery")
        logger.logLevel = .critical
        let (listening, announce) = AsyncStream.makeStream(of: (any Channel).self)
        let application = Application(
            router: Routes.router(hall, options),
            // A head that never ends must not keep its connection, nor connections each other's descriptors.
            server: HTTPServerBuilder { responder in
                PatientChannel(HTTP1Channel(responder: responder, configuration: .init(idleTimeout: .seconds(30))))
            },
            configuration: .init(
                address: .hostname(options.host, port: options.port), backlog: 1_024,
                availableConnectionsDelegate: .maximum(2_048, logger: logger)),
            onServerRunning: { announce.yield($0) },
            logger: logger)
        let running = Task {
            defer { announce.finish() }
            try await application.run()
        }
        for await channel in listening {
            let port = channel.localAddress?.port ?? options.port
            await hall.begin()
            return Gallery(options, port: port, hall: hall, listener: channel, running: running)
        }
        do {
            try await running.value
            throw GalleryError.cannotListen(host: options.host, port: options.port, cause: "the server ended at once")
        } catch let error as GalleryError {
            throw error
        } catch {
            throw GalleryError.cannotListen(host: options.host, port: options.port, cause: Self.reason(error))
        }
    }

    /// An address by which other machines may reach this one; nil: it has none.
    private static var ownAddress: String? {
        let addresses = ((try? System.enumerateDevices()) ?? []).compactMap(\.address)
        return addresses.first { $0.protocol == .inet && $0.ipAddress?.hasPrefix("127.") == false }?.ipAddress
    }

    private static func reason(_ error: any Error) -> String {
        (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    }

    private init(
        _ options: GalleryOptions, port: Int, hall: Hall, listener: any Channel, running: Task<Void, any Error>
    ) {
        // Every address of this machine is none that could be opened.
        let isAny = options.host == "0.0.0.0" || options.host == "::"
        let name = options.names.first ?? (isAny ? Self.ownAddress : nil) ?? options.host
        let host = name.contains(":") ? "[\(name)]" : name
        url = "http://\(host):\(port)/" + (options.token.map { "?token=\($0)" } ?? "")
        self.hall = hall
        self.listener = listener
        self.running = running
    }

    /// Ends the pages' streams and takes no more requests. Those under way are dropped; nobody waits for them: Hummingbird
    /// takes up to two seconds to notice.
    package func close() async {
        await hall.close()
        try? await listener.close()
        running.cancel()
    }
}
