import Platform

// What the process that reads tags, the worker, and the one that starts it say to each other: each message is a line of JSON.

/// What a worker is asked for.
enum TagRequest: Hashable, Codable {
    case read(path: BytePath)
    case change(TagChange)
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
struct TagAnswer: Hashable, Codable {
    var tags: AudioTags?
    var failure: TagFailure?
}

/// Why a file has no tags.
struct TagFailure: Error, Hashable, Codable {
    var reason: String
    /// Whether another scan may succeed, although the file is the same.
    var isTransient = false

    /// Of an answer that is no message.
    static let unreadable = TagFailure(reason: "its tags cannot be parsed")
}

/// What a worker answers for a change.
enum ChangeOutcome: Hashable, Codable {
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
}

enum TagLine {
    private static let end = UInt8(ascii: "\n")
    /// The worker's first line: it is ready.
    static let greeting = [end]

    static func bytes(_ message: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // No message has a value that JSON has not. An empty line is no message.
        return Array((try? encoder.encode(message)) ?? Data()) + [end]
    }

    /// - Returns: nil if the line is no such message.
    static func message<Message: Decodable>(_ line: some Sequence<UInt8>) -> Message? {
        try? JSONDecoder().decode(Message.self, from: Data(line))
    }

    /// Takes the complete lines out of bytes of a pipe.
    static func take(from bytes: inout [UInt8]) -> [ArraySlice<UInt8>] {
        var lines = bytes.split(separator: end, omittingEmptySubsequences: false)
        bytes = Array(lines.removeLast())
        return lines
    }
}
