import Foundation
import OriginServer
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverFetch
@testable import CoverLibrary

/// Each row of the table in the article Hosts, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct EndingRowTests {
    /// What a server does with the first request. All others get the cover.
    enum First: Sendable, CustomTestStringConvertible {
        case answers(String, fields: [String] = [], text: String = "")
        case sends(String)
        case closes
        /// Keeps the connection open, and says nothing else.
        case isSilent(after: String = "")

        var testDescription: String {
            switch self {
            case .answers(let status, let fields, let text): ([status] + fields + [text]).joined(separator: " ")
            case .sends(let text): text
            case .closes: "closes"
            case .isSilent(let text): "is silent after \(text)"
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var ending: Ending
        var first: First
        var testDescription: String { "\(ending): \(first.testDescription)" }

        static func of(_ ending: Ending, _ statuses: [Int], _ fields: [String] = []) -> [Row] {
            statuses.map { Row(ending: ending, first: .answers("\($0) No", fields: fields)) }
        }
    }

    private static let passing: [Row] = {
        let pause = ["Retry-After: 1"]
        var rows = Row.of(.untimely, [408, 425]) + Row.of(.untimely, [202, 404, 423, 501], pause)
        rows += Row.of(.refused(pause: nil), [420, 429, 430, 509])
        rows += Row.of(.refused(pause: .seconds(1)), [403, 503, 529], pause)
        rows += Row.of(.overloaded, [503, 529])
        rows.append(Row(ending: .overloaded, first: .answers("200 OK", text: "rate limit exceeded")))
        rows += Row.of(.erroneous, [500, 502, 504, 520, 599, 600, 999])
        let brokenOff = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nno length\r\n"
        rows.append(Row(ending: .erroneous, first: .sends(brokenOff)))
        rows.append(Row(ending: .broken, first: .closes))
        rows.append(Row(ending: .broken, first: .sends("SSH-2.0-OpenSSH_9.2\r\n")))
        rows.append(Row(ending: .silent, first: .isSilent()))
        rows.append(Row(ending: .silent, first: .isSilent(after: "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf")))
        let quota = First.answers("200 OK", fields: pause, text: "quota exceeded")
        rows.append(Row(ending: .refused(pause: .seconds(1)), first: quota))
        return rows
    }()

    @Test(arguments: passing)
    func `a cover whose first answer may pass is asked for again, and arrives`(row: Row) async throws {
        try await with(row.first) { library, server in
            let outcomes = try await library.prefetch([server.url + "/1.jpg"]).collect().outcomes
            #expect(outcomes.map(\.kind) == [.downloaded], "\(outcomes)")
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: passing)
    func `without retries its failure is what the table calls it`(row: Row) async throws {
        try await with(row.first, retries: 0) { library, server in
            let failure = try #require(await library.failure(server.url + "/1.jpg"))
            #expect(failure.ending == row.ending, "\(failure)")
            #expect(failure.isRetryable && server.requests.count == 1)
        }
    }

    private static let maximumSize = 1 << 20
    private static let final: [Row] = {
        let page = First.answers("200 OK", text: "<!doctype html><title>Sign in</title>")
        let large = First.sends("HTTP/1.1 200 OK\r\nContent-Length: \(maximumSize + 1)\r\n\r\n")
        return Row.of(.absent, [404, 410])
            + Row.of(.failed, [204, 300, 400, 401, 402, 403, 406, 444, 451, 499, 501, 505])
            + [Row(ending: .failed, first: page), Row(ending: .failed, first: large)]
    }()

    @Test(arguments: final)
    func `a cover whose first answer is final fails with it, and is asked for once`(row: Row) async throws {
        try await with(row.first) { library, server in
            let failure = try #require(await library.failure(server.url + "/1.jpg"))
            #expect(failure.ending == row.ending && !failure.isRetryable, "\(failure)")
            #expect(server.requests.count == 1)
            let isRemembered = await library.failure(server.url + "/1.jpg") != nil
            #expect(isRemembered == (row.ending == .absent))
        }
    }

    @Test(arguments: [200, 203, 301, 302, 303, 307, 308])
    func `a cover, and a redirect to one, are answers, and asked for once`(status: Int) async throws {
        let picture = CoverImage.jpeg(number: 1)
        try await withScriptedServer { request in
            request.target == "/1.jpg"
                ? httpResponse("\(status) Yes", ["Location: /2.jpg"], status < 300 ? picture : [])
                : httpResponse("200 OK", [], picture)
        } _: { server in
            try await withStage { stage in
                let cover = try await stage.library.cover(at: server.url + "/1.jpg")
                #expect(cover.bytes == picture)
                #expect(server.requests.map(\.target) == (status < 300 ? ["/1.jpg"] : ["/1.jpg", "/2.jpg"]))
            }
        }
    }

    @Test(.enabled(if: Nginx.isInstalled))
    func `a port that answers without TLS is not trusted, and not tried again`() async throws {
        try await withStage { stage in
            try await Nginx.with(.http, server: "return 404;") { nginx in
                let failure = try #require(await stage.library.failure("https://127.0.0.1:\(nginx.port)/1.jpg"))
                #expect(failure.ending == .untrusted && !failure.isRetryable, "\(failure)")
            }
        }
    }

    @Test func `a name without an address is unreachable`() async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let failure = try #require(await stage.library.failure("http://no-such-name.test/1.jpg"))
            #expect(failure.ending == .unreachable && failure.isRetryable, "\(failure)")
        }
    }

    @Test func `a port at which nothing listens is unreachable`() async throws {
        let port = try closedPort()
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let failure = try #require(await stage.library.failure("http://127.0.0.1:\(port)/1.jpg"))
            #expect(failure.ending == .unreachable && failure.isRetryable, "\(failure)")
        }
    }

    @Test(.enabled(if: Nginx.isInstalled))
    func `a certificate that nobody has signed is not trusted, and not tried again`()
        async throws
    {
        try await withStage { stage in
            try await Nginx.with(.https, server: "return 404;") { nginx in
                let failure = try #require(await stage.library.failure(nginx.url + "/1.jpg"))
                #expect(failure.ending == .untrusted && !failure.isRetryable, "\(failure)")
            }
        }
    }

    @Test func `without a descriptor a request is not sent, which says nothing of its host`() async {
        await #expect(processExitsWith: .success) {
            try await withScriptedServer { _ in
                httpResponse("200 OK", [], CoverImage.jpeg(number: 2))
            } _: { server in
                try await withStage {
                    $0.retries = 0
                } _: { stage in
                    // The network has its descriptors from then on, and no connection to the other server.
                    #expect(await stage.library.failure(stage.url(1)) == nil)
                    let before = try #require(DescriptorLimit.current)
                    let next = dup(0)
                    close(next)
                    DescriptorLimit.set(Int(next))
                    for number in 1...9 {
                        let failure = try #require(await stage.library.failure(server.url + "/\(number).jpg"))
                        #expect(failure.ending == .unsent && failure.isRetryable, "\(failure)")
                        #expect(failure.detail.contains("Too many open files"), "\(failure)")
                    }
                    DescriptorLimit.set(before)
                    #expect(await stage.library.failure(server.url + "/1.jpg") == nil)
                    #expect(server.requests.count == 1)
                }
            }
        }
    }

    @Test func `a request that is given up is no failure: of nothing that is counted, and not of its host`()
        async throws
    {
        try await with(.isSilent(), retries: 0, silence: 300) { library, server in
            let url = server.url + "/1.jpg"
            let call = Task { await library.failure(url) }
            try await eventually { server.requests.count == 1 }
            call.cancel()
            #expect(await call.value?.ending == .cancelled)
            let outcomes = try await library.prefetch([url]).collect().outcomes
            #expect(outcomes.map(\.kind) == [.downloaded])
        }
    }

    private func with(
        _ first: First, retries: Int = 1, silence: Int = 1,
        _ body: @escaping @Sendable (LibraryAPI, ScriptedServer) async throws -> Void
    ) async throws {
        let picture = CoverImage.jpeg(number: 1)
        let requests = Mutex(0), isOver = DispatchSemaphore(value: 0)
        let server = try ScriptedServer { _ in
            guard
                requests.withLock({
                    $0 += 1; return $0 == 1
                })
            else { return httpResponse("200 OK", [], picture) }
            switch first {
            case .answers(let status, let fields, let text): return httpResponse(status, fields, Array(text.utf8))
            case .sends(let text): return Array(text.utf8)
            case .closes: return nil
            case .isSilent(let text):
                if !text.isEmpty { return Array(text.utf8) }
                isOver.wait()
                return nil
            }
        }
        defer {
            isOver.signal()
            server.stop()
        }
        try await withStage {
            $0.retries = retries
            $0.maximumSize = Self.maximumSize
            if case .isSilent = first { $0.timeout = .seconds(silence) }
        } _: { stage in
            try await body(stage.library, server)
        }
    }
}
