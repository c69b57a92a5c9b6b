import CoverLibrary
import Foundation
import HTTPTypes
import Synchronization
import Testing
import Wire

/// A library whose requests something else than libcurl sends. Written as a program would: nothing but the public interface.
@Suite(.timeLimit(.minutes(5))) struct CoverTransportTests {
    static let image = Data("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"2\"/>".utf8)

    /// Answers by path, and keeps what was asked.
    final class Server: CoverTransport {
        private let sent = Mutex<[TransportRequest]>([])
        private let answer: @Sendable (TransportRequest) async throws -> TransportResponse

        init(_ answer: @escaping @Sendable (TransportRequest) async throws -> TransportResponse) {
            self.answer = answer
        }

        var requests: [TransportRequest] { sent.withLock { $0 } }

        func response(to request: TransportRequest) async throws -> TransportResponse {
            sent.withLock { $0.append(request) }
            return try await answer(request)
        }
    }

    private func withLibrary(
        _ server: Server, _ configure: (inout LibraryConfiguration) -> Void = { _ in },
        _ body: (LibraryAPI) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = LibraryConfiguration(cacheDirectory: folder)
        configuration.transport = server
        configuration.retries = 1
        configure(&configuration)
        let library = try await LibraryAPI(configuration: configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(library))
        } catch {
            result = .failure(error)
        }
        await library.close()
        try result.get()
    }

    private func url(_ path: String) throws -> URL { try #require(URL(string: "https://covers.example\(path)")) }

    @Test func `a transport stands in for the network: redirects, validation, absence and caching stay the library's`()
        async throws
    {
        let server = Server { request in
            switch request.url.path {
            case "/moved": TransportResponse(status: .found, headerFields: [.location: "/cover"])
            case "/cover" where request.headerFields[.ifNoneMatch] == "\"1\"": TransportResponse(status: .notModified)
            case "/cover":
                TransportResponse(headerFields: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: Self.image)
            case "/page": TransportResponse(body: Data("<html></html>".utf8))
            default: TransportResponse(status: 404)
            }
        }
        try await withLibrary(server) { library in
            let moved = try await library.cover(for: url("/moved"))
            #expect(moved.data == Self.image && moved.mediaType == "image/svg+xml" && moved.width == nil)
            let run = library.prefetch([try url("/moved"), try url("/cover"), try url("/none"), try url("/page")])
            let summary = try await run.summary()
            #expect(summary.fresh == 1 && summary.downloaded == 1 && summary.failed == 2)
            let again = try await library.prefetch(
                [CoverRequest(url: url("/cover"), cachePolicy: .revalidate)]
            ).summary()
            #expect(again.revalidated == 1)
            let before = server.requests.count
            await #expect(throws: CoverFailure.self) { try await library.cover(for: url("/none")) }
            #expect(server.requests.count == before, "the 404 is remembered")
            let first = server.requests[0]
            #expect(first.method == .get && first.headerFields[.userAgent]?.hasPrefix("Sleeve/") == true)
            #expect(first.headerFields[.accept]?.hasPrefix("image/*") == true)
        }
    }

    @Test func `what a transport throws is the failure, and a temporary one is retried`() async throws {
        let server = Server { request in
            if request.url.path == "/slow" { throw CoverFailure(.timeout, url: "", detail: "no answer") }
            throw URLError(.badServerResponse)
        }
        try await withLibrary(server) { library in
            let timeout = await #expect(throws: CoverFailure.self) { try await library.cover(for: url("/slow")) }
            #expect(timeout?.kind == .timeout && timeout?.detail == "no answer")
            #expect(server.requests.count == 2)
            let broken = await #expect(throws: CoverFailure.self) { try await library.cover(for: url("/other")) }
            #expect(broken?.kind == .broken)
        }
    }

    /// What a transport throws, the kind of the failure, its status, and the number of requests with one retry.
    @Test(
        arguments: [
            (CoverFailure(.status, url: "", detail: "gone", status: 404), .status, 404, 1),
            (CoverFailure(.status, url: "", detail: "busy", status: 503), .status, 503, 2),
            (CoverFailure(.offline, url: "", detail: "no network"), .offline, nil, 1),
            (CoverFailure(.cancelled, url: "", detail: "ended"), .cancelled, nil, 1),
            (CancellationError(), .cancelled, nil, 1),
            (CoverFailure(.notAnImage, url: "", detail: "no"), .notAnImage, nil, 1),
            (CoverFailure(.badURL, url: "", detail: "no"), .badURL, nil, 1),
            (CoverFailure(.connect, url: "", detail: "refused"), .connect, nil, 2),
        ] as [(any Error, CoverFailure.Kind, Int?, Int)])
    func `what a transport throws becomes what it says`(
        error: any Error, kind: CoverFailure.Kind, status: Int?, requests: Int
    ) async throws {
        let server = Server { _ in throw error }
        try await withLibrary(server) { library in
            let failure = await #expect(throws: CoverFailure.self) { try await library.cover(for: url("/1")) }
            #expect(failure?.kind == kind && failure?.status == status, "\(String(describing: failure))")
            #expect(server.requests.count == requests)
        }
    }

    @TaskLocal static var caller = "nobody"

    @Test func `a transport has the task-local values of the task that asked first`() async throws {
        let names = Mutex<[String]>([])
        let server = Server { _ in
            names.withLock { $0.append(Self.caller) }
            return TransportResponse(body: Self.image)
        }
        try await withLibrary(server) { library in
            try await Self.$caller.withValue("call") { _ = try await library.cover(for: url("/1")) }
            try await Self.$caller.withValue("run") { _ = try await library.prefetch([url("/2")]).summary() }
            var request = RefreshRequest()
            request.scope = .all
            let refreshed = try await Self.$caller.withValue("refresh") { [request] in
                try await library.refresh(request).summary()
            }
            #expect(refreshed.requested == 2)
            #expect(names.withLock { $0 } == ["call", "run", "refresh", "refresh"])
        }
    }

    @Test func `a body above the maximum size is refused`() async throws {
        let server = Server { _ in TransportResponse(body: Self.image) }
        try await withLibrary(server, { $0.maximumSize = 10 }) { library in
            let failure = await #expect(throws: CoverFailure.self) { try await library.cover(for: url("/1")) }
            #expect(failure?.kind == .tooLarge)
        }
    }

    @Test func `cancelling the only caller cancels the transport's task, and closing the library ends its calls`()
        async throws
    {
        let cancelled = Mutex(0)
        let server = Server { _ in
            let (never, continuation) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            continuation.finish()
            cancelled.withLock { $0 += 1 }
            throw CancellationError()
        }
        try await withLibrary(server) { library in
            let first = Task { try await library.cover(for: url("/1")) }
            try await eventually { server.requests.count == 1 }
            first.cancel()
            let failure = await #expect(throws: CoverFailure.self) { try await first.value }
            #expect(failure?.kind == .cancelled)
            try await eventually { cancelled.withLock { $0 } == 1 }
            let second = Task { try await library.cover(for: url("/2")) }
            try await eventually { server.requests.count == 2 }
            await library.close()
            let closed = await #expect(throws: CoverFailure.self) { try await second.value }
            #expect(closed?.kind == .closed)
            try await eventually { cancelled.withLock { $0 } == 2 }
        }
    }

    @Test func `a host gets as many calls as perHost says from the first one on`() async throws {
        let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
        let server = Server { _ in
            await withCheckedContinuation { continuation in
                let all = waiting.withLock { waiting in
                    waiting.append(continuation)
                    return waiting.count == 48 ? waiting : []
                }
                for each in all { each.resume() }
            }
            return TransportResponse(body: Self.image)
        }
        try await withLibrary(server, { $0.perHost = 48 }) { library in
            let urls = try (1...48).map { try url("/\($0)") }
            #expect(
                try await library.prefetch(urls).summary().downloaded == 48, "none is answered before all are asked")
        }
    }

    @Test func `a transport may ask its library for another cover of a host that has not answered yet`() async throws {
        let asked = Mutex<LibraryAPI?>(nil)
        let inner = try url("/inner")
        let server = Server { request in
            if request.url.path != "/inner" { _ = try await asked.withLock { $0 }?.cover(for: inner) }
            return TransportResponse(body: Self.image)
        }
        try await withLibrary(server) { library in
            asked.withLock { $0 = library }
            defer { asked.withLock { $0 = nil } }
            let outer = try await library.cover(for: url("/outer"))
            #expect(outer.data == Self.image)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a transport that does not answer in time is cancelled, and its cover fails or is asked for again`()
        async throws
    {
        let server = Server { request in
            if request.url.path == "/late" { try await Task.sleep(for: .seconds(3_600)) }
            return TransportResponse(body: Self.image)
        }
        try await withLibrary(server, { $0.timeout = .milliseconds(100) }) { library in
            let failure = await #expect(throws: CoverFailure.self) { try await library.cover(for: url("/late")) }
            #expect(
                failure?.kind == .timeout && failure?.detail.contains("100 ms") == true,
                "\(String(describing: failure))")
            #expect(server.requests.count == 2)
            _ = try await library.cover(for: url("/1"))
        }
    }

    @Test func `a transport gets no more calls at a time than the limits allow`() async throws {
        let inFlight = Mutex(0)
        let peak = Mutex(0)
        let server = Server { _ in
            let now = inFlight.withLock { count in
                count += 1
                return count
            }
            peak.withLock { $0 = max($0, now) }
            for _ in 0..<20 { await Task.yield() }
            inFlight.withLock { $0 -= 1 }
            return TransportResponse(body: Self.image)
        }
        try await withLibrary(server, { $0.perHost = 4 }) { library in
            let urls = try (1...100).map { try url("/\($0)") }
            #expect(try await library.prefetch(urls).summary().downloaded == 100)
            #expect(peak.withLock { $0 } <= 4)
        }
    }
}
