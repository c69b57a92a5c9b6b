import Platform
import Testing

@testable import Files

@Suite struct StepTests {
    private let old = Digest(of: [1])
    private let new = Digest(of: [2])
    private let mine = Digest(of: [3])

    private func step(isSleeves: Bool, replaces: Bool = true) throws -> Step {
        Step(
            folder: Array("/m\u{E9}".utf8) + [0xFF, 0x20], name: try #require(FileName("a b")),
            hidden: try #require(FileName(".h")), expected: .init(old, isSleeves: isSleeves), new: replaces ? new : nil)
    }

    @Test func `a line of the journal is the step, and one that was cut off is none`() throws {
        for isSleeves in [false, true] {
            for replaces in [false, true] {
                let step = try step(isSleeves: isSleeves, replaces: replaces)
                #expect(Step(line: step.line) == step)
                for length in 0..<step.line.count { #expect(Step(line: step.line.prefix(length)) == nil) }
            }
        }
    }

    @Test func `only bytes that Sleeve wrote are deleted, whatever is there`() throws {
        let all: [Step.Found] = [.nothing, .other, .bytes(old), .bytes(new), .bytes(mine)]
        for isSleeves in [false, true] {
            for replaces in [false, true] {
                let step = try step(isSleeves: isSleeves, replaces: replaces)
                let own: [Step.Found] = (isSleeves ? [.bytes(old)] : []) + (replaces ? [.bytes(new)] : [])
                for hidden in all {
                    for name in all {
                        let repair = step.repair(hidden: hidden, name: name)
                        #expect((repair == .none) == (hidden == .nothing))
                        if repair == .delete { #expect(own.contains(hidden)) }
                        // The name goes only to Sleeve's file.
                        if repair == .takeOver { #expect(replaces && name == .bytes(new)) }
                        if repair == .putBack { #expect(name == .nothing) }
                    }
                }
            }
        }
    }

    @Test func `a song that was exchanged gets its name back, and a cover of Sleeve's makes room`() throws {
        let (song, cover) = (try step(isSleeves: false), try step(isSleeves: true))
        #expect(song.repair(hidden: .bytes(old), name: .bytes(new)) == .takeOver)
        #expect(cover.repair(hidden: .bytes(old), name: .bytes(new)) == .delete)
        #expect(cover.repair(hidden: .bytes(old), name: .nothing) == .putBack)
        #expect(try step(isSleeves: true, replaces: false).repair(hidden: .bytes(old), name: .nothing) == .delete)
        #expect(song.repair(hidden: .bytes(mine), name: .bytes(mine)) == .moveAside)
    }
}
