/// The segments of a JPEG from SOI to the scan (ITU-T T.81 §B.1.1.4).
struct JPEGSegments {
    struct Malformed: Error { let reason: String }

    private(set) var width = 0
    private(set) var height = 0
    private(set) var comments: [String] = []
    /// The file without its COM segments.
    private(set) var withoutComments: [UInt8] = [0xFF, 0xD8]

    /// - Throws: `Malformed` if the file is not a baseline JPEG with a JFIF header and an end marker.
    init(_ bytes: [UInt8]) throws {
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]), bytes.suffix(2) == [0xFF, 0xD9] else {
            throw Malformed(reason: "SOI, APP0 or EOI is missing")
        }
        var offset = 2
        while true {
            guard offset + 4 <= bytes.count, bytes[offset] == 0xFF else {
                throw Malformed(reason: "marker at \(offset)")
            }
            let end = offset + 2 + Int(bytes[offset + 2]) << 8 + Int(bytes[offset + 3])
            guard end >= offset + 4, end <= bytes.count else { throw Malformed(reason: "length at \(offset)") }
            let body = bytes[(offset + 4)..<end]
            switch bytes[offset + 1] {
            case 0xFE:
                comments.append(String(decoding: body, as: UTF8.self))
                offset = end
                continue
            case 0xC0:
                let numbers = body.prefix(5).map { Int($0) }
                (height, width) = (numbers[1] << 8 | numbers[2], numbers[3] << 8 | numbers[4])
            case 0xDA:
                withoutComments += bytes[offset...]
                return
            case 0xE0, 0xDB, 0xC4: break
            default: throw Malformed(reason: "marker \(bytes[offset + 1])")
            }
            withoutComments += bytes[offset..<end]
            offset = end
        }
    }
}
