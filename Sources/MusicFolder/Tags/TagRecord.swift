/// What a worker answers for a file, as bytes: fields that begin with a letter and end with NUL, then an empty field.
///
/// ```
/// aLow Tide␀AThe Harbour Lights␀y1971␀t3␀␀
/// !is not a file of its format␀␀
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
        var bytes: [UInt8] = []
        func add(_ letter: Character, _ text: String) {
            if text.isEmpty { return }
            bytes += String(letter).utf8
            bytes += text.utf8.lazy.filter { $0 != 0 }
            bytes.append(0)
        }
        switch result {
        case .failure(let failure): add(failure.isTransient ? "?" : "!", failure.reason)
        case .success(let tags):
            add("a", tags.album)
            add("A", tags.albumArtist)
            add("r", tags.artist)
            add("y", tags.year)
            add("g", tags.genre)
            add("d", tags.disc.map(String.init) ?? "")
            add("t", tags.track.map(String.init) ?? "")
            if tags.isCompilation { add("c", "1") }
            add("i", tags.releaseID ?? "")
            add("I", tags.releaseGroupID ?? "")
            if tags.pictureCount > 0 { add("n", String(tags.pictureCount)) }
            if let picture = tags.picture {
                add(
                    "p",
                    [picture.type, picture.byteCount, picture.width ?? 0, picture.height ?? 0].map(String.init).joined(
                        separator: " "))
                add("m", picture.mediaType ?? "")
                add("s", picture.digest)
            }
        }
        bytes.append(0)
        return bytes
    }

    init(_ result: Result<AudioTags, Failure>) { self.result = result }

    /// Reads one record.
    /// - Parameter bytes: without the NUL of the empty field.
    init(_ bytes: ArraySlice<UInt8>) {
        var tags = AudioTags()
        var failure: Failure?
        for field in bytes.split(separator: 0) {
            guard let letter = field.first else { continue }
            let text = String(decoding: field.dropFirst(), as: UTF8.self)
            switch letter {
            case UInt8(ascii: "!"): failure = Failure(reason: text)
            case UInt8(ascii: "?"): failure = Failure(reason: text, isTransient: true)
            case UInt8(ascii: "a"): tags.album = text
            case UInt8(ascii: "A"): tags.albumArtist = text
            case UInt8(ascii: "r"): tags.artist = text
            case UInt8(ascii: "y"): tags.year = text
            case UInt8(ascii: "g"): tags.genre = text
            case UInt8(ascii: "d"): tags.disc = Int(text)
            case UInt8(ascii: "t"): tags.track = Int(text)
            case UInt8(ascii: "c"): tags.isCompilation = true
            case UInt8(ascii: "i"): tags.releaseID = text
            case UInt8(ascii: "I"): tags.releaseGroupID = text
            case UInt8(ascii: "n"): tags.pictureCount = Int(text) ?? 0
            case UInt8(ascii: "p"):
                let numbers = text.split(separator: " ").compactMap { Int($0) }
                guard numbers.count == 4 else { continue }
                tags.picture = EmbeddedPicture(
                    type: numbers[0], width: numbers[2] > 0 ? numbers[2] : nil,
                    height: numbers[3] > 0 ? numbers[3] : nil,
                    byteCount: numbers[1], digest: "")
            case UInt8(ascii: "m"): tags.picture?.mediaType = text
            case UInt8(ascii: "s"): tags.picture?.digest = text
            default: continue
            }
        }
        result = failure.map { .failure($0) } ?? .success(tags)
    }
}
