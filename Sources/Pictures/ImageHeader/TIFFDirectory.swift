/// The first directory of a TIFF file (TIFF 6.0 section 2), in either byte order. Exif metadata are such a file.
package struct TIFFDirectory {
    private let view: ByteView
    private let isLittle: Bool
    /// Entries of 12 bytes. Truncated files have fewer.
    private let entries: StrideTo<Int>

    /// - Returns: nil if the bytes are no TIFF.
    package init?(_ view: ByteView) {
        isLittle = view.bigEndian(0, 4) == 0x4949_2A00
        guard isLittle || view.bigEndian(0, 4) == 0x4D4D_002A else { return nil }
        self.view = view
        let start = Self.number(view, isLittle, 4, 4) ?? view.count
        let count = Self.number(view, isLittle, start, 2) ?? 0
        entries = stride(from: start + 2, to: start + 2 + 12 * count, by: 12)
    }

    /// The value of a tag: a SHORT (3) or a LONG (4), stored in the entry itself. Nil if there is none.
    package func number(of tag: Int) -> Int? {
        for entry in entries {
            guard let found = Self.number(view, isLittle, entry, 2) else { return nil }
            guard found == tag, let type = Self.number(view, isLittle, entry + 2, 2) else { continue }
            return type == 3 || type == 4 ? Self.number(view, isLittle, entry + 8, type == 3 ? 2 : 4) : nil
        }
        return nil
    }

    private static func number(_ view: ByteView, _ isLittle: Bool, _ offset: Int, _ size: Int) -> Int? {
        isLittle ? view.littleEndian(offset, size) : view.bigEndian(offset, size)
    }
}
