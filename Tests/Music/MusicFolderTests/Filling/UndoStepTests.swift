import Platform
import Testing

@testable import MusicFolder

/// What is taken back is decided without a disk.
@Suite struct UndoStepTests {
    private let old = Digest(of: [1])
    private let new = Digest(of: [2])
    private let mine = Digest(of: [3])

    private func file(replaces: Bool) -> WrittenFile {
        var file = WrittenFile(
            folder: BytePath("/m"), name: Array("cover.jpg".utf8), digest: new, album: "1", run: 2)
        if replaces { file.replaced = .init(name: file.name, digest: old, run: 1) }
        return file
    }

    private func step(_ found: UndoStep.Found, replaces: Bool = false, isCached: Bool = true) -> UndoStep {
        UndoStep(file(replaces: replaces), found) { $0 == old && isCached }
    }

    @Test func `only a file with the bytes that were written goes`() {
        #expect(step(.bytes(new)) == .remove)
        #expect(step(.bytes(mine)) == .keep)
        #expect(step(.other) == .keep)
    }

    @Test func `what was replaced comes back if its bytes are there`() throws {
        let replaced = try #require(file(replaces: true).replaced)
        #expect(step(.bytes(new), replaces: true) == .restore(replaced))
        #expect(step(.bytes(new), replaces: true, isCached: false) == .fail(reason: UndoStep.uncached))
        #expect(step(.bytes(mine), replaces: true, isCached: false) == .keep)
    }

    @Test func `a file that a person has removed stays away, and one on a disk that is away is remembered`() {
        #expect(step(.nothing) == .stayAway)
        #expect(step(.away) == .away)
    }
}
