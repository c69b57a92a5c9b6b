import NIOCore

/// Covers by number: real images that are always the same, no two with the same bytes.
package enum CoverImage {
    /// A JPEG between 8 and 250 KB; over many numbers the mean is about 31 KB.
    ///
    /// - Parameter number: any number; it is written into the file and decides picture and colours.
    package static func jpeg(number: Int) -> [UInt8] { Array(parts(number: number).joined().readableBytesView) }

    /// A JPEG of this size, to three bytes. Below about 800 bytes no file gets; past 250 KB the rest is comments.
    package static func jpeg(number: Int, aboutBytes size: Int) -> [UInt8] {
        Array(parts(number: number, size: size).joined().readableBytesView)
    }

    /// A PNG of about 3 KB; with `aboutBytes`, padded to that size.
    package static func png(number: Int, aboutBytes size: Int = 0) -> [UInt8] {
        let drawing = Drawing(seed: SplitMix.scramble(UInt64(bitPattern: Int64(number)) ^ 0x504E47))
        var comment = Array(label(number).utf8)
        let bare = PNGImage.encode(drawing, comment: comment)
        guard size > bare.count else { return bare }
        comment += [UInt8](repeating: 0x20, count: size - bare.count)
        return PNGImage.encode(drawing, comment: comment)
    }
}

extension CoverImage {
    private static func label(_ number: Int) -> String { "Sleeve cover \(number)" }

    /// `jpeg(number:)`, or with a size `jpeg(number:aboutBytes:)`, before its bytes are written.
    static func parts(number: Int, size: Int? = nil) -> CoverParts {
        let hash = SplitMix.scramble(UInt64(bitPattern: Int64(number)))
        let shelf = PictureShelf.shared
        let tail = size.map { shelf.tail(notOver: $0) } ?? shelf.tail(any: hash)
        return CoverParts(label: label(number), colors: CoverParts.Colors(hash >> 16), tail: tail, size: size ?? 0)
    }
}
