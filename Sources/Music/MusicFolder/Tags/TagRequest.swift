import Platform

/// What a worker is asked for, as fields that end with NUL: a path to read, or, after an empty field, a change.
///
/// ```
/// /music/1.flac␀
/// ␀/music/1.flac␀/music/.sleeve-7-1.flac.part␀add␀
/// ␀/music/1.flac␀/music/.sleeve-7-2.flac.part␀remove PICTURE AUDIO GROWTH␀
/// ```
enum TagRequest: Hashable {
    case read(BytePath)
    case change(TagChange)

    var bytes: [UInt8] {
        switch self {
        case .read(let path): path.bytes + [0]
        case .change(let change):
            [0] + change.path.bytes + [0] + change.copy.bytes + [0] + change.action.text.utf8 + [0]
        }
    }

    /// Puts requests together from the bytes of a pipe.
    struct Parser {
        struct Malformed: Error {}

        private var fields: [[UInt8]] = []
        private var field: [UInt8] = []

        /// Whether no request has begun.
        var isEmpty: Bool { fields.isEmpty && field.isEmpty }

        /// Takes the next byte. - Returns: The request that it ends.
        mutating func take(_ byte: UInt8) throws(Malformed) -> TagRequest? {
            if byte != 0 {
                field.append(byte)
                return nil
            }
            fields.append(field)
            field = []
            guard fields[0].isEmpty else {
                defer { fields = [] }
                return .read(BytePath(bytes: fields[0]))
            }
            if fields.count < 4 { return nil }
            defer { fields = [] }
            guard let action = TagChange.Action(String(decoding: fields[3], as: UTF8.self)) else { throw Malformed() }
            return .change(.init(path: BytePath(bytes: fields[1]), copy: BytePath(bytes: fields[2]), action: action))
        }
    }
}

/// A change of a file's pictures, which is made in a copy.
struct TagChange: Hashable {
    enum Action: Hashable {
        /// Adds the picture that the copy's file has at first, as the front cover.
        case add
        /// Removes a picture that was added, as `EmbeddedCover` has it.
        case remove(picture: Digest, audio: Digest, growth: Int)
        /// Writes the file's picture into the copy, and no audio.
        case take
    }

    var path: BytePath
    /// A file in the same folder, which belongs to who asks.
    var copy: BytePath
    var action: Action
}

extension TagChange.Action {
    fileprivate var text: String {
        switch self {
        case .add: "add"
        case .take: "take"
        case .remove(let picture, let audio, let growth): "remove \(picture) \(audio) \(growth)"
        }
    }

    fileprivate init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        switch words.first {
        case "add" where words.count == 1: self = .add
        case "take" where words.count == 1: self = .take
        case "remove" where words.count == 4:
            guard let picture = Digest(words[1]), let audio = Digest(words[2]), let growth = Int(words[3]) else {
                return nil
            }
            self = .remove(picture: picture, audio: audio, growth: growth)
        default: return nil
        }
    }
}
