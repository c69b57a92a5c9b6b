/// SVG, the only cover format that is text.
extension ImageHeader {
    /// SVG 2 (W3C) sections 5.1 and 8.2: the root element of an XML document is `svg`, with any namespace prefix. The size is
    /// `width` and `height` in absolute units of CSS, rounded to pixels; what is missing follows from the last two numbers of
    /// `viewBox`.
    static func svg(_ view: ByteView) -> ImageHeader? {
        guard let root = MarkupPrologue(view).root else { return nil }
        var end = root + 1
        var start = end
        while let byte = view.byte(end), !Byte.isBlank(byte), byte != UInt8(ascii: ">"), byte != UInt8(ascii: "/") {
            end += 1
            if byte == UInt8(ascii: ":") { start = end }
        }
        guard end - start == 3, view.has("svg", at: start), end < view.count else { return nil }

        var width, height, boxWidth, boxHeight: Double?
        var attributes = MarkupAttributes(view, from: end)
        while let (name, value) = attributes.next() {
            switch name {
            case "width": width = pixels(value)
            case "height": height = pixels(value)
            case "viewBox":
                let numbers = value.utf8.split { Byte.isBlank($0) || $0 == UInt8(ascii: ",") }.map {
                    String(Substring($0))
                }
                if numbers.count == 4 { (boxWidth, boxHeight) = (number(numbers[2]), number(numbers[3])) }
            default: break
            }
        }
        if let boxWidth, let boxHeight {
            // A side without a length has the aspect ratio of the view box.
            let (scaleX, scaleY) = (width.map { $0 / boxWidth }, height.map { $0 / boxHeight })
            width = width ?? boxWidth * (scaleY ?? 1)
            height = height ?? boxHeight * (scaleX ?? 1)
        }
        return ImageHeader("image/svg+xml", width.map(rounded), height.map(rounded))
    }

    /// SVG in UTF-16, with a byte order mark or without.
    static func svgInUTF16(_ view: ByteView) -> ImageHeader? {
        guard let mark = view.bigEndian(0, 2), [0xFEFF, 0xFFFE, 0x003C, 0x3C00].contains(mark) else { return nil }
        let isBig = mark == 0xFEFF || mark == 0x003C
        let start = mark == 0xFEFF || mark == 0xFFFE ? 2 : 0
        // The root element of a cover is near its beginning.
        let units = stride(from: start, to: min(view.count, 1 << 20), by: 2).lazy.compactMap { offset in
            (isBig ? view.bigEndian(offset, 2) : view.littleEndian(offset, 2)).map { UInt16($0) }
        }
        return Array(String(decoding: Array(units), as: UTF16.self).utf8).withUnsafeBytes { svg(ByteView($0)) }
    }

    /// The absolute units of CSS (Values and Units 4, section 6.2) in pixels of 1/96 inch.
    private static let units: [String: Double] = [
        "": 1, "px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6,
    ]

    /// A length in pixels. Nil for a relative unit (`em`, `%`) and for an invalid length.
    private static func pixels(_ text: String) -> Double? {
        let unit = text.reversed().prefix { $0.isLetter || $0 == "%" }
        guard let factor = units[String(unit.reversed()).lowercased()] else { return nil }
        return number(String(text.dropLast(unit.count))).map { $0 * factor }
    }

    /// A positive number, at most 1e9. Nil for what Swift takes for a number and CSS does not.
    private static func number(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let value = Double(text), value > 0
        else { return nil }
        return min(value, 1e9)
    }

    /// Never of a NaN: the sides of a view box are neither 0 nor infinite.
    private static func rounded(_ length: Double) -> Int { max(1, Int(min(length, 1e9).rounded())) }
}

/// The part before the root element of an XML or HTML document (XML 1.0 section 2.8): a byte order mark, white space, the XML
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
            case Byte.less where isInSubset && view.has("<!--", at: offset):
                // A comment and a processing instruction may contain any quotes.
                guard let close = view.offset(of: "-->", from: offset + 4) else { return nil }
                offset = close + 2
            case Byte.less where isInSubset && view.has("<?", at: offset):
                guard let close = view.offset(of: "?>", from: offset + 2) else { return nil }
                offset = close + 1
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
