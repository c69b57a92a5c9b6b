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
    /// The texts, which have no line breaks, the numbers, the ids and the picture. An empty line is an unknown value.
    fileprivate var lines: [String] {
        func text(_ number: Int?) -> String { number.map { "\($0)" } ?? "" }
        var lines = [
            album, albumArtist, artist, title, year, originalYear, genre, releaseID ?? "", releaseGroupID ?? "",
        ]
        lines += [disc, discTotal, track, trackTotal, side, length].map(text)
        lines += [isCompilation ? "1" : "", "\(pictureCount)"]
        if let picture {
            lines += [picture.digest, picture.mediaType ?? ""]
            lines += [picture.type, picture.width, picture.height, picture.byteCount].map(text)
        }
        return lines
    }

    /// Nil unless they are what `lines` returns.
    fileprivate init?(lines: [String]) {
        guard lines.count == 17 || lines.count == 23 else { return nil }
        func id(_ line: String) -> String? { line.isEmpty ? nil : line }
        self.init()
        (album, albumArtist, artist, title) = (lines[0], lines[1], lines[2], lines[3])
        (year, originalYear, genre) = (lines[4], lines[5], lines[6])
        (releaseID, releaseGroupID) = (id(lines[7]), id(lines[8]))
        (disc, discTotal, track, trackTotal) = (Int(lines[9]), Int(lines[10]), Int(lines[11]), Int(lines[12]))
        (side, length, isCompilation, pictureCount) =
            (Int(lines[13]), Int(lines[14]), lines[15] == "1", Int(lines[16]) ?? 0)
        guard lines.count == 23 else { return }
        guard let type = Int(lines[19]), let byteCount = Int(lines[22]) else { return nil }
        picture = EmbeddedPicture(
            type: type, mediaType: id(lines[18]), width: Int(lines[20]), height: Int(lines[21]), byteCount: byteCount,
            digest: lines[17])
    }
}
