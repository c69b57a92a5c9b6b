import CoverFetch
import Foundation
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverLibrary

/// The window of a view on covers.
@Suite(.timeLimit(.minutes(5))) struct CoverWindowTests {
    @Test func `what is shown arrives in its order, and what was scrolled away is not requested`() async throws {
        try await withStage {
            $0.perHost = 1
        } _: { stage in
            func request(_ number: Int) -> (Int, CoverRequest) {
                (number, CoverRequest(location: stage.url(number, number == 1 ? "hold=1" : "")))
            }
            let window = stage.library.window(of: Int.self)
            window.show([1, 2, 3, 4].map(request))
            try await eventually { stage.origin.requestCount == 1 }
            // Another host, whose cover arrives once the scheduler knows the new order.
            let other = CoverRequest(
                location: stage.url(5).replacingOccurrences(of: "127.0.0.1", with: "localhost"))
            window.show([4, 3].map(request) + [(5, other)])
            var arrivals = window.arrivals.makeAsyncIterator()
            let first = try #require(await arrivals.next())
            #expect(first.id == 5 && first.outcome.kind == .downloaded)
            stage.origin.release()
            let rest = [await arrivals.next()?.id, await arrivals.next()?.id]
            #expect(rest == [4, 3], "of what is in flight and no longer shown nothing is heard")
            #expect(stage.origin.requestCount(path: "/covers/2.jpg") == 0)
            #expect(try stage.library.cached(stage.url(1, "hold=1")) != nil, "what was in flight is kept")
        }
    }

    @Test func `what is shown again arrives once, what is cached without a request, and what is no URL as a failure`()
        async throws
    {
        try await withStage { stage in
            let window = stage.library.window(of: String.self)
            let cover = CoverRequest(location: stage.url(1, "hold=1"))
            window.show([("a", cover)])
            window.show([(String, URL)]())
            window.show([("a", cover), ("none", CoverRequest(location: "nonsense"))])
            window.show([("a", cover), ("none", CoverRequest(location: "nonsense"))])
            try await eventually { stage.origin.requestCount == 1 }
            stage.origin.release()
            var arrived: [String] = []
            for await arrival in window.arrivals {
                #expect((arrival.outcome.failure == nil) == (arrival.id == "a"))
                arrived.append(arrival.id)
                if arrival.id == "a" { break }
            }
            #expect(arrived == ["none", "a"])
            window.show([("a", cover), ("again", cover)])
            var arrivals = window.arrivals.makeAsyncIterator()
            let again = await arrivals.next()
            #expect(again?.id == "again" && [.joined, .fresh].contains(again?.outcome.kind), "what has ended stays so")
            window.show([(String, URL)]())
            window.show([("a", cover)])
            #expect(await arrivals.next()?.id == "a", "and is asked for once it was not shown")
            #expect(stage.origin.requestCount == 1)
            window.show([("a", CoverRequest(location: stage.url(2)))])
            #expect(await arrivals.next()?.outcome.kind == .downloaded, "or if its request is another one")
        }
    }

    @Test func `an album's other URLs are tried, and a library that closes ends what is shown`() async throws {
        try await withStage { stage in
            var album = Album(title: "Low Tide", coverURL: stage.url(1, "status=404"))
            album.alternateCoverURLs = [stage.url(2)]
            let window = stage.library.window(of: Album.ID.self)
            window.show([
                (album.id, CoverRequest(album: album)), ("held", CoverRequest(location: stage.url(3, "hold=1"))),
            ])
            var arrivals = window.arrivals.makeAsyncIterator()
            let first = try #require(await arrivals.next())
            #expect(first.id == album.id && first.outcome.digest != nil)
            await stage.library.close()
            #expect(await arrivals.next() == nil)
            window.show([("late", CoverRequest(location: stage.url(4)))])
            #expect(await arrivals.next() == nil)
            stage.origin.release()
        }
    }

    @Test func `what has left the view before it was read is left out, and closing the window ends its arrivals`()
        async throws
    {
        try await withStage { stage in
            let window = stage.library.window(of: Int.self)
            func request(_ number: Int) -> (Int, CoverRequest) { (number, CoverRequest(location: stage.url(number))) }
            window.show([1, 2].map(request))
            for number in 1...2 { try await eventually { try stage.library.cached(stage.url(number)) != nil } }
            window.show([3].map(request))
            var arrivals = window.arrivals.makeAsyncIterator()
            #expect(await arrivals.next()?.id == 3)
            window.close()
            #expect(await arrivals.next() == nil)
            _ = try await stage.library.cover(at: stage.url(4))
        }
    }

    @Test func `an arrival gives its cover in the size of the view, also one that may not be stored, or its failure`()
        async throws
    {
        try await withStage { stage in
            let window = stage.library.window(of: Int.self)
            let queries = ["", "cache-control=no-store", "status=404"]
            window.show(queries.enumerated().map { ($0, CoverRequest(location: stage.url($0 + 1, $1))) })
            var (covers, failures): ([Int: Cover], [Int: CoverFailure]) = ([:], [:])
            for await arrival in window.arrivals {
                do throws(CoverFailure) {
                    covers[arrival.id] = try await arrival.cover()
                    let small = try await arrival.cover(longestSide: LibraryAPI.keptSizes[0])
                    #expect(max(small.width ?? 0, small.height ?? 0) <= LibraryAPI.keptSizes[0])
                } catch {
                    failures[arrival.id] = error
                }
                if covers.count + failures.count == 3 { break }
            }
            #expect(covers.keys.sorted() == [0, 1] && failures[2]?.status == 404, "\(failures)")
        }
    }
}
