import Platform

// What the process that reads tags, the worker, and the one that starts it say to each other: each message is a line, of JSON but for what is said of
// each file.

/// What a line without its end says.
protocol TagMessage: Codable {
    var line: [UInt8] { get }
    /// Nil if the line is no such message.
    init?(line: [UInt8])
}

extension TagMessage {
    var line: [UInt8] { TagLine.json(self) }

    init?(line: [UInt8]) {
        guard let message: Self = TagLine.value(line) else { return nil }
        self = message
    }
}

/// What a worker is asked for.
enum TagRequest: Hashable, TagMessage {
    case read(path: BytePath)
    case change(TagChange)

    /// A path alone, unless it has the end of a line in it.
    var line: [UInt8] {
        guard case .read(let path) = self, path.bytes.first == Self.slash, !path.bytes.contains(UInt8(ascii: "\n"))
        else { return TagLine.json(self) }
        return path.bytes
    }

    init?(line: [UInt8]) {
        guard let request = line.first == Self.slash ? .read(path: BytePath(bytes: line)) : TagLine.value(line) as Self?
        else { return nil }
        self = request
    }

    private static let slash = UInt8(ascii: "/")
}

/// A change of a file's pictures, which is made in a copy.
struct TagChange: Hashable, Codable {
    enum Action: Hashable, Codable {
        /// Adds the picture that the copy's file has at first, as the front cover.
        case add
        /// Removes a picture that was added, as `Written.Song` has it.
        case remove(picture: Digest, audio: Digest, growth: Int)
        /// Writes the file's picture into the copy, and no audio.
        case take
        /// Makes no copy: asks for the audio's digest.
        case listen
    }

    var path: BytePath
    /// A file in the same folder, which belongs to who asks.
    var copy: BytePath
    var action: Action
}

/// What a worker answers for a file to read: one of both.
struct TagAnswer: Hashable, TagMessage {
    var tags: AudioTags?
    var failure: TagFailure?

    init(tags: AudioTags? = nil, failure: TagFailure? = nil) { (self.tags, self.failure) = (tags, failure) }

    /// Of tags the values alone: their texts have no controls.
    var line: [UInt8] { tags.map { Array($0.values.joined(separator: "\u{1F}").utf8) } ?? TagLine.json(self) }

    init?(line: [UInt8]) {
        let values = line.split(separator: 0x1F, omittingEmptySubsequences: false)
        let tags = AudioTags(values: values.map { String(decoding: $0, as: UTF8.self) })
        guard let answer = tags.map({ TagAnswer(tags: $0) }) ?? TagLine.value(line) else { return nil }
        self = answer
    }
}

/// Why a file has no tags, or why its pictures cannot be changed, as a clause about the file.
struct TagFailure: Error, Hashable, Codable {
    var reason: String
    /// Whether another scan may succeed, although the file is the same.
    var isTransient = false

    /// Of an answer that is no message.
    static let unreadable = TagFailure(reason: "its tags cannot be parsed")
    static let damaged = TagFailure(reason: "its tags are damaged")
}

/// What a worker answers for a change.
enum ChangeOutcome: Hashable, TagMessage {
    /// The copy is complete and proved.
    /// - Parameter audio: The digest of the audio, as `AudioFile.audioDigest` has it.
    case made(audio: Digest)
    /// The picture to remove is not in the file, or the audio is another.
    case absent
    case refused(reason: String)
    /// Pictures are not written into the format of this name.
    case otherFormat(String)
    /// - Parameter error: The `errno` of a call.
    case failed(error: Int32)
}

enum TagLine {
    private static let end = UInt8(ascii: "\n")
    /// The worker's first line: it is ready.
    static let greeting = [end]
    private static let decoder = JSONDecoder()
    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }()

    static func bytes(_ message: some TagMessage) -> [UInt8] { message.line + [end] }

    fileprivate static func json(_ message: some Encodable) -> [UInt8] {
        // No message has a value that JSON has not. An empty line is no message.
        Array((try? encoder.encode(message)) ?? Data())
    }

    fileprivate static func value<Value: Decodable>(_ line: [UInt8]) -> Value? {
        try? decoder.decode(Value.self, from: Data(line))
    }

    /// Takes the complete lines out of bytes of a pipe.
    static func take(from bytes: inout [UInt8]) -> [[UInt8]] {
        var lines = bytes.split(separator: end, omittingEmptySubsequences: false).map { Array($0) }
        bytes = lines.removeLast()
        return lines
    }
}

extension AudioTags {
    private typealias Field<Value> = WritableKeyPath<AudioTags, Value> & Sendable
    private static let texts: [any Field<String>] = [
        \.album, \.albumArtist, \.artist, \.title, \.year, \.originalYear, \.genre,
    ]
    private static let ids: [any Field<String?>] = [\.releaseID, \.releaseGroupID]
    private static let numbers: [any Field<Int?>] = [\.disc, \.discTotal, \.track, \.trackTotal, \.side, \.length]

    /// In the order in which `init(values:)` takes them.
    fileprivate var values: [String] {
        func text(_ number: Int?) -> String { number.map { "\($0)" } ?? "" }
        return Self.texts.map { self[keyPath: $0] } + Self.ids.map { self[keyPath: $0] ?? "" }
            + Self.numbers.map { text(self[keyPath: $0]) } + [isCompilation ? "1" : "", text(pictureCount)]
            + (picture.map { picture in
                [picture.digest.description, picture.mediaType ?? ""]
                    + [picture.type, picture.byteCount, picture.width, picture.height].map(text)
            } ?? [])
    }

    /// - Returns: nil if they are none.
    fileprivate init?(values: [String]) {
        var values = values[...]
        guard [17, 23].contains(values.count) else { return nil }
        func taken() -> String? { values.popFirst().flatMap { $0.isEmpty ? nil : $0 } }
        self.init()
        for field in Self.texts { self[keyPath: field] = taken() ?? "" }
        for field in Self.ids { self[keyPath: field] = taken() }
        for field in Self.numbers { self[keyPath: field] = taken().flatMap { Int($0) } }
        isCompilation = taken() != nil
        guard let count = taken().flatMap({ Int($0) }) else { return nil }
        pictureCount = count
        guard let text = taken() else { return }
        let type = taken()
        guard let digest = Digest(text), let kind = taken().flatMap({ Int($0) }),
            let bytes = taken().flatMap({ Int($0) })
        else { return nil }
        picture = EmbeddedPicture(
            type: kind, mediaType: type, width: taken().flatMap { Int($0) }, height: taken().flatMap { Int($0) },
            byteCount: bytes, digest: digest)
    }
}
