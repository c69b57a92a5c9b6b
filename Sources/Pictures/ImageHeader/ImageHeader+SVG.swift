/// SVG, the only cover format that is text.
extension ImageHeader {
    /// SVG 2 (W3C) sections 5.1 and 8.2: the root element of an XML document is `svg`, with any namespace prefix. The size
    /// is not read.
    static func svg(_ view: ByteView) -> ImageHeader? {
        let view = view.beginning
        guard let root = MarkupPrologue(view).root else { return nil }
        var end = root + 1
        var start = end
        while let byte = view.byte(end), !Byte.isBlank(byte), byte != UInt8(ascii: ">"), byte != UInt8(ascii: "/") {
            end += 1
            if byte == UInt8(ascii: ":") { start = end }
        }
        guard end - start == 3, view.has("svg", at: start), end < view.count else { return nil }
        return ImageHeader("image/svg+xml")
    }

    /// SVG in UTF-16, with a byte order mark or without.
    static func svgInUTF16(_ view: ByteView) -> ImageHeader? {
        inUTF8(view.beginning).flatMap { $0.withUnsafeBytes { svg(ByteView($0)) } }
    }

    /// Whether it begins as an XML document, whose root element comes later.
    static func isMarkupWithoutRoot(_ view: ByteView) -> Bool {
        let text = inUTF8(view) ?? Array(view.bytes)
        let prologue = text.withUnsafeBytes { MarkupPrologue(ByteView($0)) }
        return prologue.hasBegun && prologue.root == nil
    }

    /// The text of a document in UTF-16 in UTF-8; nil if it is in another encoding.
    static func inUTF8(_ view: ByteView) -> [UInt8]? {
        guard let mark = view.bigEndian(0, 2), [0xFEFF, 0xFFFE, 0x003C, 0x3C00].contains(mark) else { return nil }
        let isBig = mark == 0xFEFF || mark == 0x003C
        let start = mark == 0xFEFF || mark == 0xFFFE ? 2 : 0
        let units = stride(from: start, to: view.count, by: 2).lazy.compactMap { offset in
            (isBig ? view.bigEndian(offset, 2) : view.littleEndian(offset, 2)).map { UInt16($0) }
        }
        return Array(String(decoding: Array(units), as: UTF16.self).utf8)
    }
}

/// The part before the root element of an XML or HTML document (XML 1.0 section 2.8): a byte order mark, white space, the XML
/// declaration and other processing instructions, comments, a document type. A root element behind the `beginning` is none.
struct MarkupPrologue {
    /// The offset of the root element's `<`. Nil if there is none.
    private(set) var root: Int?
    /// Whether the document type is HTML.
    private(set) var isHTML = false
    /// Whether the document begins with markup.
    let hasBegun: Bool

    init(_ view: ByteView) {
        let view = view.beginning
        var offset = view.afterBlanks(view.bigEndian(0, 3) == 0xEFBBBF ? 3 : 0)
        hasBegun = view.byte(offset) == Byte.less
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
