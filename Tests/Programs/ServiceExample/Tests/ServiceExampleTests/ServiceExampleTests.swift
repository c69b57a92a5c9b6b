import CoverLibrary
import Foundation
import HTTPTypes
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle
import Synchronization
import Testing
import Tracing

@testable import ServiceExample

/// The traits of a server program. The systems of metrics and tracing are the process's, so the tests take turns.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServiceExampleTests {
    static let metrics: TestMetrics = {
        let metrics = TestMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }()
    static let tracer: InMemoryTracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    struct Covers: CoverTransport {
        static let image = Data("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"2\"/>".utf8)

        /// The paths of requests, with the span that each names and the one in which it was sent.
        static let sent = Mutex<[(path: String, named: String?, current: String?)]>([])

        func response(to request: TransportRequest) async throws -> TransportResponse {
            let named = HTTPField.Name("in-memory-span-id").flatMap { request.headerFields[$0] }
            let current = ServiceContext.current?.inMemorySpanContext?.spanID
            Self.sent.withLock { $0.append((request.url.path, named, current)) }
            if request.url.path == "/busy" {
                return TransportResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "100"])
            }
            if request.url.path.hasPrefix("/none") { return TransportResponse(status: 404) }
            return TransportResponse(headerFields: [.cacheControl: "max-age=60"], body: Self.image)
        }
    }

    private func withLibrary(_ body: (LibraryAPI) async throws -> Void) async throws {
        Self.metrics.reset()
        Self.tracer.clearAll(includingActive: true)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = LibraryConfiguration(cacheDirectory: folder)
        configuration.transport = Covers()
        let library = try await LibraryAPI(configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(library)) } catch { result = .failure(error) }
        await library.close()
        try result.get()
    }

    private func url(_ path: String) throws -> URL { try #require(URL(string: "https://covers.example\(path)")) }

    @Test func `a library of a service group closes when the group shuts down, after the services that use it`()
        async throws
    {
        try await withLibrary { library in
            let keeper = CoverKeeper(library: library, urls: [try url("/1")], interval: .seconds(3_600))
            let group = ServiceGroup(services: [library, keeper], logger: Logger(label: "test"))
            let running = Task { try await group.run() }
            while try await library.cachedCover(for: url("/1")) == nil { await Task.yield() }
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(throws: CoverFailure.self) { try library.cachedCover(for: url("/1")) }
        }
    }

    /// Waits for one cover, as a server does for those of its clients.
    struct Waiting: Service {
        let library: LibraryAPI
        let url: URL
        let failure = AsyncStream<CoverFailure?>.makeStream()

        func run() async throws {
            do throws(CoverFailure) {
                _ = try await library.cover(for: url)
                failure.continuation.yield(nil)
            } catch {
                failure.continuation.yield(error)
            }
            try? await gracefulShutdown()
        }
    }

    @Test func `a service that shuts down waits for no retry`() async throws {
        try await withLibrary { library in
            let waiting = Waiting(library: library, url: try url("/busy"))
            let group = ServiceGroup(services: [library, waiting], logger: Logger(label: "test"))
            let running = Task { try await group.run() }
            while !Covers.sent.withLock({ $0.contains { $0.path == "/busy" } }) { await Task.yield() }
            await group.triggerGracefulShutdown()
            try await running.value
            var failures = waiting.failure.stream.makeAsyncIterator()
            let kind = await failures.next()??.kind
            #expect([.closed, .status].contains(kind), "it waited, or its request was about to be refused")
        }
    }

    @Test func `a request names the span of its transfer, in which a transport runs`() async throws {
        try await withLibrary { library in
            Covers.sent.withLock { $0 = [] }
            _ = try await library.cover(for: url("/7"))
            _ = try await library.prefetch([try url("/8")]).summary()
            let spans = Self.tracer.finishedSpans
            let wanted = ["sleeve.transfer", "sleeve.prefetch"].map { name in
                spans.first { $0.operationName == name }?.spanID
            }
            let sent = Covers.sent.withLock { $0 }
            #expect(sent.map(\.named) == wanted && sent.map(\.current) == wanted)
            #expect(spans.first?.attributes.get("http.response.status_code") == .int64(200))
        }
    }

    @Test func `metrics count transfers by their outcome, bytes, hits and misses`() async throws {
        try await withLibrary { library in
            _ = try await library.cover(for: url("/1"))
            _ = try await library.cover(for: url("/1"))
            _ = try await library.cachedCover(for: url("/1"))
            await #expect(throws: CoverFailure.self) { try await library.cover(for: url("/none")) }
            _ = try await library.prefetch([try url("/1"), try url("/2"), try url("/3")]).summary()
            _ = try await library.prefetch([CoverRequest(url: try url("/2"), cachePolicy: .reload)]).summary()
            let metrics = Self.metrics
            func total(_ label: String, _ name: String, _ value: String) -> Int64 {
                metrics.counterTotal(label: label, dimensions: [(name, value)])
            }
            #expect(total("sleeve_transfers", "outcome", "downloaded") == 4)
            #expect(total("sleeve_transfers", "outcome", "failed") == 1)
            #expect(total("sleeve_lookups", "result", "hit") == 3)
            #expect(total("sleeve_lookups", "result", "miss") == 4)
            #expect(metrics.counterTotal(label: "sleeve_downloaded_bytes") == 4 * Int64(Covers.image.count))
            #expect(try metrics.expectTimer("sleeve_transfer_duration").values.count == 5)
            for label in ["sleeve_transfers_in_flight", "sleeve_waiting_covers", "sleeve_unstored_bytes"] {
                let gauge = try metrics.expectGauge(label)
                #expect(gauge.lastValue != nil, "\(label) was recorded")
            }
            await #expect(throws: CoverFailure.self) {
                try await library.cover(for: CoverRequest(url: try url("/busy"), timeout: .seconds(10)))
            }
            #expect(metrics.counterTotal(label: "sleeve_expired_requests") == 1)
        }
    }

    @Test func `a cover has a span with its transfer as a child, and a cached one has no child`() async throws {
        try await withLibrary { library in
            for _ in 1...2 { _ = try await library.cover(for: url("/1?token=abcdefghijklmnopqrstuvwxyz0123456789")) }
            await #expect(throws: CoverFailure.self) { try await library.cover(for: url("/none")) }
            _ = try await library.prefetch([try url("/2")]).summary()
            let spans = Self.tracer.finishedSpans
            #expect(
                spans.map(\.operationName) == [
                    "sleeve.transfer", "sleeve.cover", "sleeve.cover", "sleeve.transfer", "sleeve.cover",
                    "sleeve.prefetch",
                ])
            #expect(spans[0].parentSpanID == spans[1].spanID && spans[2].parentSpanID == nil)
            #expect(spans[4].errors.count == 1 && spans[4].status?.code == .error)
            #expect(spans.allSatisfy { !"\($0.attributes)".contains("abcdefghij") }, "credentials are redacted")
            await #expect(throws: CoverFailure.self) { try await library.cover(for: Album(title: "No address")) }
            let last = try #require(Self.tracer.finishedSpans.last)
            #expect(last.operationName == "sleeve.cover" && !"\(last.attributes)".contains("url.full"))
        }
    }
}
