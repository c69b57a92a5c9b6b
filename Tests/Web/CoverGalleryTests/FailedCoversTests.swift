import Foundation
import Testing

@testable import CoverGallery
@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct FailedCoversTests {
    private struct Shown: Decodable {
        struct Failure: Decodable {
            var title: String?
            var reason: String
            var cause: String?
        }
        struct Rest: Decodable {
            var reason: String
            var count: Int
        }
        var failures: [Failure]
        var unlisted: [Rest]
    }

    private func shown(_ failures: FailedCovers) throws -> Shown {
        try JSONDecoder().decode(Shown.self, from: Data(jsonText { failures.add(to: &$0) }.utf8))
    }

    @Test func `every failure is counted by its reason, and the last ones of each are listed`() throws {
        var failures = FailedCovers()
        for number in 0..<45 {
            failures.add(
                CoverProblem(reason: "Not found at host\(number % 30) (404)."), answer: 404,
                album: Album(title: "Gone \(number)"))
        }
        failures.add(CoverProblem(reason: "The picture is too large."), album: Album(title: "Wide"))
        let shown = try shown(failures)
        #expect(shown.failures.compactMap(\.title) == (25..<45).map { "Gone \($0)" } + ["Wide"])
        #expect(shown.unlisted.map(\.count) == [25])
        #expect(shown.unlisted.map(\.reason) == ["Not found at host14 (404)."])
    }

    @Test func `beyond 20 reasons the others are one, and name theirs as the cause`() throws {
        var failures = FailedCovers()
        for number in 0..<120 { failures.add(CoverProblem(reason: "Can’t reach host\(number).")) }
        let shown = try shown(failures)
        #expect(shown.failures.count == 40 && shown.failures[0].reason == "Can’t reach host0.")
        #expect(shown.failures.last?.reason == "Failed for other reasons.")
        #expect(shown.failures.last?.cause == "Can’t reach host119.")
        #expect(shown.unlisted.map(\.count) == [80])
    }
}
