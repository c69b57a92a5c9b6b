/// A format whose size is in a directory of tags.
extension ImageHeader {
    /// TIFF: TIFF 6.0 (Adobe, 1992) section 2. A header, then a directory of 12-byte entries, in either byte order.
    static func tiff(_ view: ByteView) -> ImageHeader? {
        let isLittle = view.bigEndian(0, 4) == 0x4949_2A00
        guard isLittle || view.bigEndian(0, 4) == 0x4D4D_002A else { return nil }
        func number(_ offset: Int, _ size: Int) -> Int? {
            isLittle ? view.littleEndian(offset, size) : view.bigEndian(offset, size)
        }
        let unknown = ImageHeader("image/tiff")
        guard let directory = number(4, 4), let count = number(directory, 2) else { return unknown }
        var width, height: Int?
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let tag = number(entry, 2), let type = number(entry + 2, 2) else { break }
            guard tag == 256 || tag == 257 else {
                // Entries are sorted by tag.
                if tag > 257 { break }
                continue
            }
            // ImageWidth and ImageLength are a SHORT (3) or a LONG (4), stored in the entry itself.
            guard type == 3 || type == 4, let value = number(entry + 8, type == 3 ? 2 : 4) else { return unknown }
            if tag == 256 { width = value } else { height = value }
        }
        return ImageHeader("image/tiff", width, height)
    }
}
