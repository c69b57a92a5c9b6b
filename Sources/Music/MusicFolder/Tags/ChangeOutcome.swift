import Platform

/// What a worker answers for a change, as one field like those of `TagRecord`.
enum ChangeOutcome: Hashable {
    /// The copy is complete and proved.
    /// - Parameter audio: The digest of the audio, as `AudioDigest` has it.
    case made(audio: Digest)
    /// The picture to remove is not in the file, or the audio is another.
    case absent
    case refused(reason: String)
    /// Pictures are not written into the format of this name.
    case otherFormat(String)
    /// - Parameter error: The `errno` of a call.
    case failed(error: Int32)

    var bytes: [UInt8] {
        let text =
            switch self {
            case .made(let audio): "d\(audio)"
            case .absent: "0"
            case .refused(let reason): "!\(reason)"
            case .otherFormat(let name): "f\(name)"
            case .failed(let error): "e\(error)"
            }
        return text.utf8.filter { $0 != 0 } + [0, 0]
    }

    /// - Parameter bytes: without the NUL of the empty field.
    init(_ bytes: ArraySlice<UInt8>) {
        let text = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        self =
            switch bytes.first {
            case UInt8(ascii: "d"): Digest(text).map { .made(audio: $0) } ?? .refused(reason: "was not written")
            case UInt8(ascii: "0"): .absent
            case UInt8(ascii: "f"): .otherFormat(text)
            case UInt8(ascii: "e"): .failed(error: Int32(text) ?? EIO)
            default: .refused(reason: text)
            }
    }
}
