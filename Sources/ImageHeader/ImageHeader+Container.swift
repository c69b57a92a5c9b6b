/// Formats whose size is in a directory of tags or boxes.
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

    /// AVIF and HEIC: boxes of ISO/IEC 14496-12 section 4.2; brands of the AVIF specification section 8 and of ISO/IEC
    /// 23008-12 (HEIF) section 10. The size is the largest `ispe` (23008-12 section 6.5.3) of meta/iprp/ipco: thumbnails and
    /// tiles have one each.
    static func isoMedia(_ view: ByteView) -> ImageHeader? {
        guard let length = view.bigEndian(0, 4), view.has("ftyp", at: 4), let type = mediaType(view, length) else {
            return nil
        }
        let all = 0..<view.count
        guard let meta = box("meta", in: all, view),
            // `meta` is a full box: version and flags precede its boxes.
            let properties = box("iprp", in: meta.dropFirst(4), view),
            let container = box("ipco", in: properties, view)
        else { return ImageHeader(type) }

        var largest = (width: 0, height: 0)
        var rest = container
        while let extent = box("ispe", in: rest, view) {
            rest = extent.upperBound..<container.upperBound
            let start = extent.lowerBound + 4
            guard extent.count >= 12, let width = view.bigEndian(start, 4), let height = view.bigEndian(start + 4, 4)
            else { continue }
            // Both are below 2^32, so a product can exceed Int.max: UInt holds it.
            if UInt(width) * UInt(height) > UInt(largest.width) * UInt(largest.height) { largest = (width, height) }
        }
        return ImageHeader(type, largest.width, largest.height)
    }

    /// By the major brand first, then by the compatible ones. Nil for a video.
    private static func mediaType(_ view: ByteView, _ length: Int) -> String? {
        // The minor version separates the major brand from the compatible ones. No real list has more than 32.
        let brands = [8] + stride(from: 16, to: min(length, view.count, 16 + 4 * 32), by: 4)
        var isHEIF = false
        for brand in brands {
            if view.has("avif", at: brand) || view.has("avis", at: brand) { return "image/avif" }
            for name: StaticString in ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]
            where view.has(name, at: brand) {
                return "image/heic"
            }
            if view.has("mif1", at: brand) || view.has("msf1", at: brand) { isHEIF = true }
        }
        return isHEIF ? "image/heif" : nil
    }

    /// The range of the contents of the first box of a type.
    static func box(_ type: StaticString, in range: Range<Int>, _ view: ByteView) -> Range<Int>? {
        var offset = range.lowerBound
        while offset < range.upperBound, let size = view.bigEndian(offset, 4) {
            var header = 8
            var length = size
            if size == 0 {
                length = range.upperBound - offset  // to the end
            } else if size == 1 {
                // A 64-bit length. No cover exceeds 4 GiB.
                guard view.bigEndian(offset + 8, 4) == 0, let long = view.bigEndian(offset + 12, 4) else { return nil }
                header = 16
                length = long
            }
            guard length >= header else { return nil }
            // The last box of a truncated body is cut at its end.
            let end = min(offset + length, range.upperBound)
            if view.has(type, at: offset + 4), offset + header <= end { return offset + header..<end }
            offset += length
        }
        return nil
    }
}
