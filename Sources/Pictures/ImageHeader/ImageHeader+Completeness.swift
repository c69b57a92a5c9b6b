/// Whether an image's bytes reach the end that its format marks.
extension ImageHeader {
    /// False if the image is cut off. A transfer can be complete and its image not: a server may hold a part of a file.
    /// True for TIFF and for JPEG XL without a container, whose ends are not marked, and if bytes follow the end.
    /// - Parameter bytes: the whole body.
    package static func isComplete(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let view = ByteView(bytes)
        if view.bigEndian(0, 3) == 0xFFD8FF { return hasJPEGEnd(view) }
        // IEND is the last chunk (W3C PNG specification, section 5.6): its length, its type, and a checksum.
        if view.bigEndian(0, 4) == 0x8950_4E47 {
            return view.has("IEND", at: view.count - 8) || view.offset(of: "IEND", from: 8) != nil
        }
        if view.has("GIF8", at: 0) { return hasGIFTrailer(view) }
        if view.has("RIFF", at: 0), view.has("WEBP", at: 8) { return hasAllOfRIFF(view) }
        if view.has("ftyp", at: 4) || view.has("JXL ", at: 4) { return hasAllBoxes(view) }
        // The length of the file: `bfSize` (Microsoft, BITMAPFILEHEADER). Some programs leave it 0.
        if view.has("BM", at: 0), let length = view.littleEndian(2, 4) { return length <= view.count }
        return hasSVGEnd(view)
    }

    /// RFC 9649 sections 2.3 and 2.4: the length of the file, without its first 8 bytes, and chunks of even length. Some programs count the 8 bytes,
    /// too, or leave out the byte that makes the last chunk even.
    private static func hasAllOfRIFF(_ view: ByteView) -> Bool {
        guard let length = view.littleEndian(4, 4) else { return false }
        if length <= view.count - 8 { return true }
        guard length <= view.count + 1 else { return false }
        var offset = 12
        while offset < view.count {
            guard let chunk = view.littleEndian(offset + 4, 4) else { return false }
            let end = offset + 8 + chunk
            if end == view.count { return true }
            offset = end + chunk % 2
        }
        return offset == view.count
    }

    /// ISO/IEC 14496-12 section 4.2: no box is longer than the rest of the file, and one of them has the data of the picture.
    private static func hasAllBoxes(_ view: ByteView) -> Bool {
        var (offset, hasData) = (0, false)
        while let size = view.bigEndian(offset, 4), view.byte(offset + 7) != nil {
            var length = size
            if size == 1 {
                // A 64-bit length. No cover exceeds 4 GiB.
                guard view.bigEndian(offset + 8, 4) == 0, let long = view.bigEndian(offset + 12, 4) else {
                    return false
                }
                length = long
            }
            for type: StaticString in ["mdat", "jxlc", "jxlp"] where view.has(type, at: offset + 4) { hasData = true }
            if view.has("meta", at: offset + 4) {
                let end = size == 0 ? view.count : min(offset + length, view.count)
                let contents = min(offset + 12, end)..<end
                // HEIF (ISO/IEC 23008-12) section 6.2: a small picture may lie in the metadata.
                if Boxes(view, in: contents).first("idat") != nil { hasData = true }
            }
            // The last box, up to the end; or bytes that are no box.
            if size == 0 || length < 8 { return hasData }
            if length > view.count - offset { return false }
            offset += length
        }
        return hasData
    }

    /// XML 1.0 section 2.1: after the root element's end tag come comments and processing instructions only. True for what is no SVG.
    private static func hasSVGEnd(_ view: ByteView) -> Bool {
        if svg(view) != nil { return MarkupPrologue(view).root.map { hasEndTag(view, ofElementAt: $0) } ?? true }
        guard svgInUTF16(view) != nil, let text = inUTF8(view) else { return true }
        return text.withUnsafeBytes { hasSVGEnd(ByteView($0)) }
    }

    private static func hasEndTag(_ view: ByteView, ofElementAt root: Int) -> Bool {
        var end = root + 1
        while let byte = view.byte(end), !Byte.isBlank(byte), byte != UInt8(ascii: ">"), byte != UInt8(ascii: "/") {
            end += 1
        }
        guard let name = view.part(root + 1, end - root - 1) else { return false }
        // The start tag, whose values may contain `>`.
        while let byte = view.byte(end), byte != UInt8(ascii: ">") {
            if byte == Byte.quote || byte == UInt8(ascii: "'") {
                guard let close = view.bytes.firstOffset(of: byte, from: end + 1) else { return false }
                end = close
            }
            end += 1
        }
        guard view.byte(end) != nil else { return false }
        if view.byte(end - 1) == UInt8(ascii: "/") { return true }
        var start = view.count - name.count - 2
        while start > end {
            if view.has("</", at: start), view.part(start + 2, name.count)?.bytes.elementsEqual(name.bytes) == true {
                let close = view.afterBlanks(start + 2 + name.count)
                return view.byte(close) == UInt8(ascii: ">") && hasNoElement(view, from: close + 1)
            }
            start -= 1
        }
        return false
    }

    /// Whether comments, processing instructions and blanks are all that follows, or bytes that are no markup.
    private static func hasNoElement(_ view: ByteView, from start: Int) -> Bool {
        var offset = view.afterBlanks(start)
        while view.byte(offset) == Byte.less {
            let end =
                view.has("<!--", at: offset)
                ? view.offset(of: "-->", from: offset)
                : view.has("<?", at: offset) ? view.offset(of: "?>", from: offset) : nil
            guard let end else { return false }
            offset = view.afterBlanks(end + 3)
        }
        return true
    }

    /// ITU-T T.81 annex B: the end of image (EOI) follows the last scan. The segments before the first scan may hold a thumbnail with an
    /// own end. In a scan, FF is followed by 00 or by a marker.
    private static func hasJPEGEnd(_ view: ByteView) -> Bool {
        var segments = JPEGSegments(view)
        while segments.next() != nil {}
        // Nearly every file ends with it. Others have some bytes more, or another image.
        var end = view.count - 2
        while end >= segments.offset {
            if view.bigEndian(end, 2) == 0xFFD9 { return true }
            end -= 1
        }
        return false
    }

    /// GIF89a specification, sections 17 to 27: blocks, each with its sub-blocks, up to the trailer.
    private static func hasGIFTrailer(_ view: ByteView) -> Bool {
        func colors(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        guard let flags = view.byte(10) else { return false }
        var offset = 13 + colors(flags)
        while let block = view.byte(offset) {
            switch block {
            case 0x3B: return true
            case 0x21: offset += 2  // an extension and its label
            case 0x2C:
                guard let flags = view.byte(offset + 9) else { return false }
                offset += 11 + colors(flags)
            default: return true  // no block of GIF89a: what it means is unknown
            }
            while let length = view.byte(offset), length > 0 { offset += 1 + Int(length) }
            offset += 1
        }
        return false
    }
}
