import Platform
import Testing

@testable import MusicFolder

@Suite struct TagRequestTests {
    @Test func `requests are read as they were written, wherever they are cut`() throws {
        let (picture, audio) = (Digest(of: [1]), Digest(of: [2]))
        let (path, copy) = (BytePath(bytes: [47, 0xFF, 10]), BytePath("/.sleeve-1-1.mp3.part"))
        let requests: [TagRequest] = [
            .read(path), .change(.init(path: path, copy: copy, action: .add)),
            .change(.init(path: path, copy: copy, action: .remove(picture: picture, audio: audio, growth: -9))),
            .read(copy),
        ]
        var parser = TagRequest.Parser()
        let read = try requests.flatMap(\.bytes).compactMap { try parser.take($0) }
        #expect(read == requests && parser.isEmpty)
        #expect(throws: TagRequest.Parser.Malformed.self) {
            for byte in [0, 1, 0, 1, 0] + Array("remove x".utf8) + [0] { _ = try parser.take(byte) }
        }
    }

    @Test(
        arguments: [
            .made(audio: Digest(of: [1])), .absent, .refused(reason: "is read-only"), .otherFormat("WMA"),
            .failed(error: ENOSPC),
        ] as [ChangeOutcome])
    func `an answer to a change is read as it was written`(outcome: ChangeOutcome) {
        #expect(outcome.bytes.suffix(2) == [0, 0])
        #expect(ChangeOutcome(outcome.bytes.dropLast()) == outcome)
    }
}
