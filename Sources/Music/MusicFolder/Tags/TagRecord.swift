import Platform

/// What a worker answers for a file: a field that ends with NUL, then an empty field. The first byte tells what it is.
///
/// ```
/// =Low Tide␊The Harbour Lights␊…␀␀          the tags, a line each; see `AudioTags.lines`
/// !is not a file of its format␀␀            why there are none
/// ?took too long␀␀                          the same, which another scan may not say
/// ```
struct TagRecord {
    /// Why a file has no tags.
    struct Failure: Error, Hashable {
        var reason: String
        /// Whether another scan may succeed, although the file is the same.
        var isTransient = false
    }

    var result: Result<AudioTags, Failure>

    /// The worker's first record: it is ready.
    static let greeting: [UInt8] = Array("+\0\0".utf8)

    var bytes: [UInt8] {
        switch result {
        case .success(let tags): Array("=\(tags.lines.joined(separator: "\n"))\0\0".utf8)
        case .failure(let failure): Array("\(failure.isTransient ? "?" : "!")\(failure.reason)\0\0".utf8)
        }
    }

    init(_ result: Result<AudioTags, Failure>) { self.result = result }

    /// Reads one record.
    /// - Parameter bytes: without the NUL of the empty field.
    init(_ bytes: ArraySlice<UInt8>) {
        let field = bytes.prefix { $0 != 0 }
        let rest = field.dropFirst()
        switch field.first {
        case UInt8(ascii: "="):
            let lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            result = AudioTags(lines: lines).map { .success($0) } ?? .failure(.init(reason: Self.unreadable))
        case UInt8(ascii: "?"):
            result = .failure(.init(reason: String(decoding: rest, as: UTF8.self), isTransient: true))
        case UInt8(ascii: "!"): result = .failure(.init(reason: String(decoding: rest, as: UTF8.self)))
        default: result = .failure(.init(reason: Self.unreadable))
        }
    }

    private static let unreadable = "its tags cannot be parsed"
}

extension AudioTags {
    private static var texts: [WritableKeyPath<AudioTags, String>] {
        [\.album, \.albumArtist, \.artist, \.title, \.year, \.originalYear, \.genre]
    }
    private static var ids: [WritableKeyPath<AudioTags, String?>] { [\.releaseID, \.releaseGroupID] }
    private static var numbers: [WritableKeyPath<AudioTags, Int?>] {
        [\.disc, \.discTotal, \.track, \.trackTotal, \.side, \.length]
    }

    /// The texts, which have no line breaks, the ids, the numbers and the picture. An empty line is an unknown value.
    fileprivate var lines: [String] {
        func text(_ number: Int?) -> String { number.map { "\($0)" } ?? "" }
        var lines = Self.texts.map { self[keyPath: $0] } + Self.ids.map { self[keyPath: $0] ?? "" }
        lines += Self.numbers.map { text(self[keyPath: $0]) } + [isCompilation ? "1" : "", "\(pictureCount)"]
        if let picture {
            lines += [picture.digest, picture.mediaType ?? ""]
            lines += [picture.type, picture.width, picture.height, picture.byteCount].map(text)
        }
        return lines
    }

    /// Nil unless they are what `lines` returns.
    fileprivate init?(lines: [String]) {
        self.init()
        var rest = lines[...]
        func optional(_ line: String?) -> String? { line?.isEmpty == false ? line : nil }
        for text in Self.texts { self[keyPath: text] = rest.popFirst() ?? "" }
        for id in Self.ids { self[keyPath: id] = optional(rest.popFirst()) }
        for number in Self.numbers { self[keyPath: number] = rest.popFirst().flatMap { Int($0) } }
        isCompilation = rest.popFirst() == "1"
        guard let count = rest.popFirst().flatMap({ Int($0) }) else { return nil }
        pictureCount = count
        guard let digest = rest.popFirst() else { return }
        let mediaType = optional(rest.popFirst())
        let sizes = rest.map { Int($0) }
        guard sizes.count == 4, let type = sizes[0], let byteCount = sizes[3] else { return nil }
        picture = EmbeddedPicture(
            type: type, mediaType: mediaType, width: sizes[1], height: sizes[2], byteCount: byteCount, digest: digest)
    }
}
