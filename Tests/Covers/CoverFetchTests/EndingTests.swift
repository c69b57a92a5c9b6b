import CurlHTTP
import Foundation
import Testing

@testable import CoverFetch

@Suite struct EndingTests {
    /// All, in the order of the article's table.
    private static let all: [Ending] = [
        .answered, .absent, .failed, .untimely, .refused(pause: nil), .overloaded, .erroneous, .broken, .silent,
        .unreachable, .untrusted, .unsent, .cancelled,
    ]

    /// The rows of the table in the article Hosts, without their quotes.
    private static let rows: [[String]] = {
        let path = "../../../../Sources/Covers/CoverLibrary/CoverLibrary.docc/Hosts.md"
        let article = URL(filePath: #filePath).appending(path: path).standardized
        let text = ((try? String(contentsOf: article, encoding: .utf8)) ?? "").replacing("`", with: "")
        let part = text.split(separator: "## How a transfer ended").last?.split(separator: "\n## ").first ?? ""
        return part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
    }()

    private func name(_ ending: Ending) -> String { String("\(ending)".prefix { $0 != "(" }) }

    private func ending(_ status: Int, _ pause: Duration?) -> Ending {
        var failure = CoverFailure(.status, url: "", detail: "", status: status)
        failure.retryAfter = pause
        return failure.ending
    }

    @Test func `the article's table says of each ending what it means`() {
        #expect(Self.rows.map { $0[0] } == Self.all.map { name($0) })
        for (row, ending) in zip(Self.rows, Self.all) {
            #expect(row[2] == (ending.isOverload ? "yes" : "no"), "fewer requests: \(ending)")
            let breaker = !ending.tellsOfHost ? "nothing" : ending.weight.map { "counts \($0)" } ?? "closes"
            #expect(row[3] == breaker, "the breaker: \(ending)")
            #expect(row[4].hasPrefix(ending.mayPass ? "yes" : "no"), "asked again: \(ending)")
        }
    }

    @Test func `the article's table says which statuses end so, with a pause and without`() {
        for row in Self.rows {
            for part in row[1].split(separator: ";") {
                let pause: Duration? = part.contains("with Retry-After") ? .seconds(1) : nil
                for status in part.matches(of: #/\b[2-9]\d\d\b/#).compactMap({ Int($0.0) })
                where !part.contains("but \(status)") && (status >= 400 || row[0] != "answered") {
                    #expect(name(ending(status, pause)) == row[0], "\(status) in: \(part)")
                }
            }
        }
    }

    @Test func `429 and its like, and a 403 with a pause, are limits of the host; others concern their URL`() {
        for status in [420, 429, 430, 509] { #expect(ending(status, nil) == .refused(pause: nil), "\(status)") }
        for status in [403, 420, 429, 430, 503, 509, 529] {
            #expect(ending(status, .seconds(1)) == .refused(pause: .seconds(1)), "\(status)")
        }
        for status in [202, 404, 409, 423] { #expect(ending(status, .seconds(1)) == .untimely, "\(status)") }
        for status in [500, 506, 555, 600] { #expect(ending(status, nil) == .erroneous, "\(status)") }
        #expect(ending(403, nil) == .failed && ending(503, .zero) == .overloaded)
    }

    @Test(arguments: CoverFailure.Kind.allCases)
    func `a failure is retried as its ending says`(kind: CoverFailure.Kind) {
        let failure = CoverFailure(kind, url: "", detail: "", status: kind == .status ? 500 : nil)
        #expect(failure.isTransient == failure.ending.mayPass)
    }

    @Test func `what says nothing of the host is no answer of it`() throws {
        var queue = QueueDriver<Int>(limits: FetchLimits(parallel: 64, perHost: 8, adapts: true))
        let now = ContinuousClock.now, urls = try (1...4).map { try url($0) }
        for url in urls[..<3] { _ = queue.submit(url, request: 0) }
        _ = queue.turn(now)
        for url in urls[..<2] { queue.didReceive(.unreachable, of: url.string, now: now) }
        queue.didReceive(.unsent, of: urls[2].string, now: now)
        queue.didReceive(.unreachable, of: urls[2].string, now: now)
        // Three failures of a host that has never answered open its breaker, unless it has answered in between.
        for url in urls[..<3] { _ = queue.end(url.string) }
        _ = queue.submit(urls[3], request: 0)
        #expect(queue.turn(now).started.isEmpty)
    }
}
