import Platform
import Testing

@testable import MusicFolder

/// What is taken back is decided without a disk.
@Suite struct UndoStepTests {
    private let old = Digest(of: [1])
    private let new = Digest(of: [2])
    private let mine = Digest(of: [3])

    private func row(_ digest: Digest, run: Int64) -> Written {
        Written(folder: BytePath("/m"), name: Array("cover.jpg".utf8), digest: digest, album: "1", run: run)
    }

    private func step(
        _ found: UndoStep.Found, replaces: Bool = false, newer: Digest? = nil, isCached: Bool = true
    ) -> UndoStep {
        UndoStep(row(new, run: 2), found, replaced: replaces ? row(old, run: 1) : nil, newer: newer) {
            $0 == old && isCached
        }
    }

    @Test func `only a file with the bytes that were written goes`() {
        #expect(step(.bytes(new)) == .remove)
        #expect(step(.bytes(mine)) == .keep)
        #expect(step(.other) == .keep)
    }

    @Test func `what was replaced comes back if its bytes are there`() {
        #expect(step(.bytes(new), replaces: true) == .restore(row(old, run: 1)))
        #expect(step(.bytes(new), replaces: true, isCached: false) == .fail(reason: UndoStep.uncached))
        #expect(step(.bytes(mine), replaces: true, isCached: false) == .keep)
    }

    @Test func `what a later fill has replaced waits for that to be taken back`() {
        #expect(step(.bytes(mine), newer: mine) == .wait)
        #expect(step(.nothing, newer: mine) == .wait)
    }

    @Test func `a file that a person has removed stays away, and one on a disk that is away is remembered`() {
        #expect(step(.nothing) == .stayAway)
        #expect(step(.away) == .away)
    }
}
