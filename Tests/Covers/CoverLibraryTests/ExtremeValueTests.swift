import AlbumLibrary
import Foundation
import HTTPTypes
import Testing

@testable import CoverLibrary

/// Whatever numbers a caller gives, the process goes on: each test ends it if one of them traps.
@Suite(.timeLimit(.minutes(5))) struct ExtremeValueTests {
    private static let numbers = [Int.min, -1, 0, 1, .max]
    private static let durations = [Duration.seconds(Int64.min), .seconds(-1), .zero, .seconds(Int64.max)]

    @Test func `any range of a cached file gives the bytes that are in it`() async throws {
        try await withStage { stage in
            let (cover, url) = (
                try await stage.library.cover(at: stage.url(1)), try #require(URL(string: stage.url(1)))
            )
            let file = try #require(try await stage.library.cachedFile(for: url))
            #expect(try file.read(0..<file.bytes) == cover.data)
            #expect(try file.read(10..<20) == cover.data.subdata(in: 10..<20))
            #expect(try file.read(file.bytes - 10..<Int.max) == cover.data.suffix(10))
            #expect(try file.read(Int.min..<10) == cover.data.prefix(10))
            for range in [Int.max - 1..<Int.max, Int.min..<0, 5..<5, file.bytes..<file.bytes + 1] {
                #expect(try file.read(range).isEmpty, "\(range)")
            }
            let sent = try file.withFileDescriptor { descriptor in
                let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
                try handle.seek(toOffset: 0)
                return try handle.readToEnd()
            }
            #expect(sent == cover.data)
        }
    }

    @Test func `a refresh takes any budget, and any age`() async throws {
        try await withStage { stage in
            for number in 1...3 { _ = try await stage.library.cover(at: stage.url(number)) }
            var budgets: [(RefreshRequest) -> RefreshRequest] = []
            for number in Self.numbers {
                budgets.append {
                    var request = $0; request.maximumRequests = number; return request
                }
                budgets.append {
                    var request = $0; request.maximumBytes = number; return request
                }
            }
            for time in Self.durations {
                budgets.append {
                    var request = $0; request.maximumTime = time; return request
                }
                budgets.append {
                    var request = $0; request.scope = .olderThan(time); return request
                }
            }
            for budget in budgets {
                var all = RefreshRequest()
                all.scope = .all
                let request = budget(all)
                let summary = try await stage.library.refresh(request).summary()
                #expect(summary.failed == 0 && summary.settled + summary.remaining <= 3, "\(request)")
                if let maximum = request.maximumRequests { #expect(summary.settled == max(0, min(3, maximum))) }
            }
        }
    }

    @Test func `the options of an init are taken as they are`() async throws {
        try await withStage { stage in
            let url = try #require(URL(string: stage.url(1)))
            let album = Album(title: "A", coverURL: stage.url(1))
            _ = try await stage.library.cover(for: url)
            for number in Self.numbers {
                for time in Self.durations {
                    let requests = [
                        CoverRequest(url: url, timeout: time, retries: number),
                        CoverRequest(album: album, timeout: time, retries: number),
                    ]
                    #expect(try await stage.library.prefetch(requests).summary().failed == 0)
                    let refresh = RefreshRequest(
                        scope: .olderThan(time), maximumRequests: number, maximumBytes: number, maximumTime: time)
                    #expect(try await stage.library.refresh(refresh).summary().failed == 0)
                }
            }
        }
    }

    @Test func `what a caller makes up has any numbers and times, and is counted, described and encoded`() async throws
    {
        let url = try #require(URL(string: "https://a.example/1"))
        let times = [-Double.infinity, -.greatestFiniteMagnitude, 0, .greatestFiniteMagnitude, .infinity, .nan]
        let dates = times.map { Date(timeIntervalSince1970: $0) }
        var outcomes: [CoverOutcome] = []
        for number in Self.numbers {
            let cover = Cover(url: url, data: Data([1]), mediaType: "image/png", width: number, height: number)
            #expect(cover.resized(longestSide: number) == cover)
            for time in Self.durations {
                var failure = CoverFailure(.status, url: "x", detail: "why", status: number, line: number)
                failure.retryAfter = time
                #expect((400...599).contains(failure.gatewayStatus) && !failure.message.isEmpty)
                outcomes.append(CoverOutcome(failed: failure, duration: time))
                var outcome = CoverOutcome(.downloaded, url: "x", line: number)
                (outcome.bytes, outcome.duration) = (number, time)
                outcomes.append(outcome)
            }
            for date in dates {
                let listing = CoverListing(
                    url: url, digest: "", bytes: number, mediaType: "", width: number, height: number, storedAt: date,
                    freshUntil: date)
                for other in dates { _ = listing.isStale(at: other) }
                _ = try? JSONEncoder().encode(listing)
                _ = try? JSONEncoder().encode(CoverStatus(digest: "", freshUntil: date))
            }
            var summary = RunSummary()
            (summary.downloaded, summary.failed, summary.joined, summary.skipped) = (number, number, number, number)
            _ = summary.settled
        }
        for outcome in outcomes {
            #expect(try JSONDecoder().decode(CoverOutcome.self, from: JSONEncoder().encode(outcome)) == outcome)
        }
        #expect(try await CoverOutcomes(outcomes).summary().settled == outcomes.count)
    }

    private struct Transport: CoverTransport {
        let answer: @Sendable (URL) throws -> TransportResponse

        func response(to request: TransportRequest) async throws -> TransportResponse { try answer(request.url) }

        static let picture = Self { _ in
            TransportResponse(body: Data("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='2'/>".utf8))
        }
    }

    @Test func `a configuration of any numbers opens a library that works, or is an error`() async throws {
        var changes: [@Sendable (inout LibraryConfiguration) -> Void] = []
        for number in Self.numbers {
            changes.append { $0.capacity = number }
            changes.append { $0.parallel = number }
            changes.append { $0.perHost = number }
            changes.append { $0.retries = number }
            changes.append { $0.maximumSize = number }
        }
        for time in Self.durations + [.nanoseconds(1), .seconds(31_536_000)] { changes.append { $0.timeout = time } }
        for rate in [Double.nan, -.infinity, -1, 0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity] {
            changes.append { $0.rate = rate }
        }
        let url = try #require(URL(string: "https://a.example/1.svg"))
        for change in changes {
            do {
                try await LibraryAPI.withTemporaryLibrary(transport: Transport.picture, configure: change) { library in
                    _ = try? await library.cover(for: CoverRequest(url: url, timeout: .seconds(20)))
                    _ = try await library.statistics()
                }
            } catch LibraryError.invalidConfiguration {}
        }
    }

    @Test func `a transport answers and fails with any numbers`() async throws {
        let large = "99999999999999999999"
        let transport = Transport { url in
            let number = Int(url.lastPathComponent) ?? 0
            if url.pathComponents.contains("status") {
                return TransportResponse(
                    status: .init(code: number),
                    headerFields: [.age: large, .cacheControl: "max-age=\(large)", .retryAfter: large])
            }
            var failure = CoverFailure(.status, url: "", detail: "", status: number, line: number)
            failure.retryAfter = .seconds(number)
            throw failure
        }
        try await LibraryAPI.withTemporaryLibrary(transport: transport) { library in
            let paths = [0, 1, 100, 199, 200, 299, 304, 429, 503, 600, 999].map { "status/\($0)" }
            for (host, path) in (paths + Self.numbers.map { "failure/\($0)" }).enumerated() {
                let url = try #require(URL(string: "https://a\(host).example/\(path)"))
                await #expect(throws: CoverFailure.self, "\(path)") {
                    try await library.cover(for: CoverRequest(url: url, timeout: .seconds(20)))
                }
            }
        }
    }

    @Test func `a request takes any time limit, number of retries, line and size`() async throws {
        try await withStage { stage in
            let url = try #require(URL(string: stage.url(1)))
            _ = try await stage.library.cover(for: url)
            for number in Self.numbers {
                var request = CoverRequest(url: url)
                (request.retries, request.line) = (number, number)
                #expect(try await stage.library.cover(for: request).data.isEmpty == false)
                #expect(try await stage.library.prefetch([request]).summary().failed == 0)
                request.cachePolicy = .reload
                _ = try? await stage.library.cover(for: request)
                let cover = try await stage.library.cover(for: url)
                #expect(cover.resized(longestSide: number).data.isEmpty == false)
                await #expect(throws: CoverFailure.self, "no size that is kept") {
                    try await stage.library.cover(for: url, longestSide: number)
                }
                await #expect(throws: CoverFailure.self) {
                    try await stage.library.cachedFile(for: url, longestSide: number)
                }
                await #expect(throws: CoverFailure.self) {
                    try await stage.library.cachedCover(for: CoverRequest(digest: cover.digest), longestSide: number)
                }
            }
            for time in Self.durations {
                var request = CoverRequest(url: url, cachePolicy: .reload)
                request.timeout = time
                do throws(CoverFailure) {
                    _ = try await stage.library.cover(for: request)
                    #expect(time > .zero)
                } catch {
                    #expect(time <= .zero, "\(error)")
                }
                _ = try? await stage.library.prefetch([request]).summary()
            }
        }
    }

    @Test func `a library takes any number of events, bytes, places and steps`() async throws {
        try await withStage { stage in
            let library = stage.library
            for number in Self.numbers {
                let events = library.events(limit: number)
                _ = try await library.cover(at: stage.url(number == 1 ? 2 : 3), cachePolicy: .reload)
                _ = try await library.evict(to: number, dryRun: true)
                _ = try await library.evict(to: number)
                withExtendedLifetime(events) {}
                let album = try await library.albums.add(Album(title: "A \(number)"), at: number)
                #expect(try await library.albums.all().contains { $0.id == album.id })
                _ = try? await library.albums.undo(number)
                _ = try? await library.albums.redo(number)
            }
        }
    }

    @Test func `a memento has any index, and a position that is a number`() async throws {
        try await withStage { stage in
            _ = try await stage.library.albums.add([Album(title: "A"), Album(title: "B")])
            for index in Self.numbers {
                for position in [-Double.greatestFiniteMagnitude, -1, 0, .greatestFiniteMagnitude] {
                    var memento = LibraryMemento(album: nil, index: index, position: position)
                    memento.tileSize = index
                    try await stage.library.albums.save(memento, for: "c")
                    let restored = try #require(try await stage.library.albums.memento(of: "c"))
                    #expect((0...1).contains(restored.index) && restored.position.isFinite, "\(memento)")
                    _ = memento.restored(in: [])
                }
            }
            for position in [Double.nan, .infinity, -.infinity] {
                let memento = LibraryMemento(album: nil, index: 0, position: position)
                await #expect(throws: LibraryError.self) { try await stage.library.albums.save(memento, for: "c") }
                _ = memento.restored(in: [Album(title: "A")])
            }
        }
    }

    @Test func `a second iteration of outcomes, arrivals or events ends, and ends no process`() async throws {
        try await withStage { stage in
            let outcomes = stage.library.prefetch([stage.url(1), stage.url(2)])
            let (first, second) = (try await outcomes.collect().outcomes, try await outcomes.collect().outcomes)
            #expect(first.count == 2 && second.isEmpty)
            let window = stage.library.window(of: Int.self)
            window.show([(1, CoverRequest(location: stage.url(1)))])
            for await arrival in window.arrivals {
                for number in Self.numbers {
                    await #expect(throws: CoverFailure.self) { try await arrival.cover(longestSide: number) }
                }
                window.close()
            }
            for await _ in window.arrivals {}
            let listings = stage.library.listings()
            for _ in 0..<2 { #expect(try await listings.reduce(0) { count, _ in count + 1 } == 2) }
            let events = stage.library.events()
            await stage.library.close()
            for await _ in events {}
            for await _ in events {}
        }
    }

    @Test func `outcomes that two tasks iterate go to one of them`() async throws {
        try await withStage { stage in
            let outcomes = stage.library.prefetch((1...20).map { stage.url($0) })
            let count = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<2 { group.addTask { try await outcomes.collect().outcomes.count } }
                return try await group.reduce(0, +)
            }
            #expect(count == 20)
        }
    }
}
