/// SVG, the only cover format that is text.
extension ImageHeader {
    /// SVG 2 (W3C) sections 5.1 and 8.2: the root element of an XML document is `svg`. The size is `width` and `height`
    /// in plain numbers or px, else the last two numbers of `viewBox`.
    static func svg(_ view: ByteView) -> ImageHeader? {
        guard var offset = MarkupPrologue(view).root else { return nil }
        offset += 1
        if view.has("svg:", at: offset) { offset += 4 }
        guard view.has("svg", at: offset), let next = view.byte(offset + 3),
            Byte.isBlank(next) || next == UInt8(ascii: ">") || next == UInt8(ascii: "/")
        else { return nil }

        var width, height, boxWidth, boxHeight: Int?
        var attributes = MarkupAttributes(view, from: offset + 3)
        while let (name, value) = attributes.next() {
            switch name {
            case "width": width = pixels(value)
            case "height": height = pixels(value)
            case "viewBox":
                let numbers = value.split { $0 == " " || $0 == "," || $0 == "\n" || $0 == "\t" }
                if numbers.count == 4 { (boxWidth, boxHeight) = (pixels(numbers[2]), pixels(numbers[3])) }
            default: break
            }
        }
        let hasSize = width != nil && height != nil
        return ImageHeader("image/svg+xml", hasSize ? width : boxWidth, hasSize ? height : boxHeight)
    }

    /// `300`, `300px` or `299.5`, rounded. Nil for other units and for invalid sizes.
    private static func pixels(_ text: some StringProtocol) -> Int? {
        let number = text.hasSuffix("px") ? String(text.dropLast(2)) : String(text)
        guard let value = Double(number), value > 0 && value < 1e9 else { return nil }
        return max(1, Int(value.rounded()))
    }
}

/// What precedes the root element of an XML or HTML document (XML 1.0 section 2.8): a byte order mark, white space, the XML
/// declaration and other processing instructions, comments, a document type.
struct MarkupPrologue {
    /// The offset of the root element's `<`. Nil if there is none.
    private(set) var root: Int?
    /// Whether the document type is HTML.
    private(set) var isHTML = false

    init(_ view: ByteView) {
        var offset = view.afterBlanks(view.bigEndian(0, 3) == 0xEFBBBF ? 3 : 0)
        while view.byte(offset) == Byte.less {
            var end: Int?
            if view.has("<?", at: offset) {
                end = view.offset(of: "?>", from: offset).map { $0 + 2 }
            } else if view.has("<!--", at: offset) {
                end = view.offset(of: "-->", from: offset + 4).map { $0 + 3 }
            } else if view.hasIgnoringCase("<!doctype", at: offset) {
                isHTML = view.hasIgnoringCase("html", at: view.afterBlanks(offset + 9))
                end = Self.endOfDocumentType(view, from: offset)
            } else {
                root = offset
                return
            }
            guard let end else { return }
            offset = view.afterBlanks(end)
        }
    }

    /// The offset after the `>` that is neither in quotes nor in the brackets of the internal subset, which declares entities.
    private static func endOfDocumentType(_ view: ByteView, from start: Int) -> Int? {
        var offset = start
        var isInSubset = false
        while let byte = view.byte(offset) {
            switch byte {
            case Byte.quote, UInt8(ascii: "'"):
                guard let close = view.bytes.firstOffset(of: byte, from: offset + 1) else { return nil }
                offset = close
            case Byte.openBracket: isInSubset = true
            case Byte.closeBracket: isInSubset = false
            case UInt8(ascii: ">") where !isInSubset: return offset + 1
            default: break
            }
            offset += 1
        }
        return nil
    }
}

/// Iterates over the attributes of a start tag (XML 1.0 section 3.1).
private struct MarkupAttributes {
    private let view: ByteView
    private var offset: Int

    init(_ view: ByteView, from offset: Int) {
        self.view = view
        self.offset = offset
    }

    /// The next attribute. Nil at the end of the tag, and if the tag is malformed.
    mutating func next() -> (name: String, value: String)? {
        let start = view.afterBlanks(offset)
        var end = start
        while let byte = view.byte(end), !Byte.isBlank(byte), byte != UInt8(ascii: "="), byte != UInt8(ascii: ">") {
            end += 1
        }
        let equals = view.afterBlanks(end)
        let open = view.afterBlanks(equals + 1)
        guard end > start, view.byte(equals) == UInt8(ascii: "="),
            let quote = view.byte(open), quote == Byte.quote || quote == UInt8(ascii: "'"),
            let close = view.bytes.firstOffset(of: quote, from: open + 1)
        else { return nil }
        offset = close + 1
        let first = view.afterBlanks(open + 1)
        var last = close
        while last > first, Byte.isBlank(view.bytes[last - 1]) { last -= 1 }
        return (
            String(decoding: view.bytes[start..<end], as: UTF8.self),
            String(decoding: view.bytes[first..<last], as: UTF8.self)
        )
    }
}
