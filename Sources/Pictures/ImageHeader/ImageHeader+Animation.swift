/// Whether an image has several frames.
extension ImageHeader {
    /// Length of the beginning of a file that shows whether it is an animation, in bytes, unless it has more of metadata.
    package static let animationMark = 64 << 10

    /// Whether a PNG or a WebP says, before its first frame's data, that it is an animation: `acTL` (W3C PNG specification, third edition,
    /// section 11.3.6.1), and the flag of `VP8X` (RFC 9649 section 2.7). The decoders know one frame only.
    /// - Parameter bytes: the whole image, or its beginning.
    package static func isAnimated(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let view = ByteView(bytes)
        if view.has("RIFF", at: 0), view.has("WEBPVP8X", at: 8) { return view.byte(20).map { $0 & 2 != 0 } ?? false }
        guard view.bigEndian(0, 4) == 0x8950_4E47 else { return false }
        var offset = 8
        while !view.has("IDAT", at: offset + 4), let length = view.bigEndian(offset, 4) {
            if view.has("acTL", at: offset + 4) { return view.bigEndian(offset + 8, 4) ?? 0 > 1 }
            offset += 12 + length
        }
        return false
    }
}
