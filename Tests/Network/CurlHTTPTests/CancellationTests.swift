import OriginServer
import Platform
import Synchronization
import Testing
import Wire

@testable import CurlHTTP

@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    @Test func `a task that is cancelled before it asks sends nothing`() async throws {
        try await withOrigin { origin, client in
            let error = await withTaskGroup(of: TransferError?.self) { group in
                group.cancelAll()
                group.addTask { await client.failure(origin.coverURL(1)) }
                return await group.next() ?? nil
            }
            #expect(error?.kind == .cancelled)
            _ = try await client.get(origin.coverURL(2))
            #expect(origin.requestCount == 1)
        }
    }

    @Test func `cancelling one of many ends it immediately as cancelled, and leaves the others alone`() async throws {
        try await withListener(answer: nil) { listener in
            try await withOrigin {
                // Beyond the time limit of the test.
                $0.timeout = .seconds(3_600)
            } _: { origin, client in
                var requests = listener.requests.makeAsyncIterator()
                let stuck = Task { await client.failure(listener.url + "/") }
                _ = await requests.next()
                async let covers = withThrowingTaskGroup(of: Int.self) { group in
                    for number in 1...40 {
                        group.addTask { try await client.get(origin.coverURL(number) + "?delay=20").body.count }
                    }
                    return try await group.reduce(0) { sum, _ in sum + 1 }
                }
                stuck.cancel()
                #expect(await stuck.value?.kind == .cancelled)
                let answered = try await covers
                #expect(answered == 40)
            }
        }
    }

    @Test func `an ID cancels its own transfer, whose completion is never called`() async throws {
        // It accepts a connection when the one before is closed.
        try await withListener(answer: nil) { listener in
            try await withClient { client in
                let isCalled = Mutex(false)
                var requests = listener.requests.makeAsyncIterator()
                let request = TransferRequest(url: try HTTPURL(listener.url + "/"))
                let id = await client.start(request) { _ in isCalled.withLock { $0 = true } }
                _ = await requests.next()
                await client.cancel(try #require(id))
                await client.start(request) { _ in }
                _ = await requests.next()
                #expect(!isCalled.withLock { $0 })
            }
        }
    }

    @Test func `the ID of an ended transfer cancels nothing, though its handle carries another by now`() async throws {
        try await withOrigin { origin, client in
            let (ending, signal) = AsyncStream.makeStream(of: Void.self)
            let request = TransferRequest(url: try HTTPURL(origin.coverURL(1)))
            let id = await client.start(request) { _ in signal.finish() }
            for await _ in ending {}
            async let second = client.get(origin.coverURL(2) + "?delay=50")
            try await eventually { origin.requestCount == 2 }
            await client.cancel(try #require(id))
            #expect(try await second.body == CoverImage.jpeg(number: 2))
        }
    }

    @Test func `shutting down ends transfers in flight as cancelled, and those asked for afterwards`() async throws {
        try await withListener(answer: nil) { listener in
            try await withClient { client in
                var requests = listener.requests.makeAsyncIterator()
                let task = Task { await client.failure(listener.url + "/") }
                _ = await requests.next()
                client.loop.shutdown()
                #expect(await task.value?.kind == .cancelled)
                for _ in 1...3 { #expect(await client.failure(listener.url + "/")?.kind == .cancelled) }
                client.loop.shutdown()
            }
        }
    }

    @Test func `a client that is released releases its transfers`() async throws {
        try await withListener(answer: nil) { listener in
            var requests = listener.requests.makeAsyncIterator()
            let request = TransferRequest(url: try HTTPURL(listener.url))
            let ending = AsyncStream.makeStream(of: TransferError.Kind.self)
            do {
                let client = try HTTPClient(configuration: HTTPClientConfiguration(userAgent: "Sleeve/test"))
                _ = await client.start(request) { result in
                    if case .failure(let error) = result { ending.continuation.yield(error.kind) }
                    ending.continuation.finish()
                }
                _ = await requests.next()
            }
            var kinds = ending.stream.makeAsyncIterator()
            #expect(await kinds.next() == .cancelled)
        }
    }
}
