import Platform
import Testing

@testable import MusicFolder

@Suite struct TagMessagesTests {
    private static let copy = BytePath("/.sleeve-1-1.mp3.part")

    @Test func `requests are read as they were written, wherever they are cut`() {
        let (picture, audio) = (Digest(of: [1]), Digest(of: [2]))
        let path = BytePath(bytes: [47, 0xFF, 10])
        let requests: [TagRequest] = [
            .read(path: path), .change(.init(path: path, copy: Self.copy, action: .add)),
            .change(.init(path: path, copy: Self.copy, action: .remove(picture: picture, audio: audio, growth: -9))),
            .change(.init(path: path, copy: Self.copy, action: .take)),
            .read(path: BytePath("/=\"\\\n\u{2028}e\u{301}")), .read(path: Self.copy),
        ]
        let bytes = requests.flatMap { TagLine.bytes($0) }
        for length in [1, 7, bytes.count] {
            var (rest, read): ([UInt8], [TagRequest]) = ([], [])
            for start in stride(from: 0, to: bytes.count, by: length) {
                rest += bytes[start..<min(start + length, bytes.count)]
                read += TagLine.take(from: &rest).compactMap { TagRequest(line: $0) }
            }
            #expect(read == requests && rest.isEmpty)
        }
    }

    @Test(arguments: ["", "{}", "x", #"{"read":{}}"#, #"{"change":{"path":"/a","copy":"/b","action":{"remove":{}}}}"#])
    func `a line that is no request is none`(line: String) {
        #expect(TagRequest(line: Array(line.utf8)) == nil)
    }

    @Test(arguments: [0x01, 0x41, 0xFF] as [UInt8])
    func `the longest request fits into a pipe`(byte: UInt8) {
        let path = BytePath(bytes: [47] + [UInt8](repeating: byte, count: Int(PATH_MAX) - 2))
        #expect(TagLine.bytes(TagRequest.change(.init(path: path, copy: path, action: .add))).count < 1 << 16)
    }

    @Test(
        arguments: [
            .made(audio: Digest(of: [1])), .absent, .refused(reason: "is read-only"), .otherFormat("WMA"),
            .failed(error: ENOSPC),
        ] as [ChangeOutcome])
    func `an answer to a change is read as it was written`(outcome: ChangeOutcome) {
        #expect(ChangeOutcome(line: Array(TagLine.bytes(outcome).dropLast())) == outcome)
    }
}
