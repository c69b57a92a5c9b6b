@testable import CoverSources
import Testing

@testable import MusicFolder

@Suite struct OwnSourceGateTests {
    private func download(_ album: Int) -> OwnSourceGate.Download {
        let home = SourceName(rawValue: "home")
        let cover = SourceCandidate(
            source: home, album: AlbumQuery(artist: "A", title: "\(album)"), pictures: ["https://a"])
        return .init(album: album, urls: ["https://a"], cover: cover)
    }

    /// What becomes of the downloads of three albums, and what a service says to those that are requested.
    private func requests(_ answers: [(isKnown: Bool, status: Int?)]) -> (requested: [Int], refusals: [String]) {
        var (gate, requested, refusals) = (OwnSourceGate(), [Int](), [String]())
        var (answers, all) = (answers[...], (1...3).map(download)[...])
        while let next = all.popFirst() {
            switch gate.admit(next) {
            case .wait, .refuse: continue
            case .download: requested.append(next.album)
            }
            // Those that come meanwhile wait, or are requested, too.
            while let other = all.popFirst() {
                if case .download = gate.admit(other) { requested.append(other.album) }
            }
            let answer = answers.popFirst() ?? (false, nil)
            let (refusal, waiting) = gate.didEnd(next.cover.source, isKnown: answer.isKnown, status: answer.status)
            refusals += [refusal].compactMap(\.self)
            all = waiting[...]
        }
        return (requested, refusals)
    }

    @Test(arguments: [401, 403])
    func `a service that refuses is asked once`(_ status: Int) {
        let (requested, refusals) = requests([(false, status)])
        #expect(requested == [1] && refusals == ["HTTP \(status)"])
    }

    @Test func `a cover that may have been known opens nothing, and one that was asked for all`() {
        let (requested, refusals) = requests([(true, 404), (true, nil), (false, 403)])
        #expect(requested == [1, 2, 3] && refusals == ["HTTP 403"])
        #expect(requests([(false, nil)]).requested == [1, 2, 3])
    }

    @Test func `a service that has answered refuses a single picture by 403, and all by 401`() {
        var gate = OwnSourceGate()
        _ = gate.admit(download(1))
        let home = download(1).cover.source
        #expect(gate.didEnd(home, isKnown: false, status: nil).refusal == nil)
        #expect(gate.didEnd(home, isKnown: false, status: 403).refusal == nil)
        #expect(gate.didEnd(home, isKnown: false, status: 401).refusal == "HTTP 401")
        #expect(gate.didEnd(home, isKnown: false, status: 401).refusal == nil, "said once")
        guard case .refuse = gate.admit(download(2)) else {
            Issue.record("it is asked")
            return
        }
    }
}
