extension ImageHeader {
    /// Names what bytes that are no image look like, for an error message: `an HTML page`, `JSON`, `XML`, `text`,
    /// `an empty body`, `compressed data (gzip)`, `a header that claims an impossible size` or `unknown data`.
    package static func describe(_ bytes: UnsafeRawBufferPointer) -> String {
        if recognized(ByteView(bytes))?.isImpossible == true { return "a header that claims an impossible size" }
        let view = ByteView(bytes).beginning
        let start = view.afterBlanks(view.bigEndian(0, 3) == 0xEFBBBF ? 3 : 0)
        guard let first = view.byte(start) else { return "an empty body" }
        // RFC 1952 section 2.3.1. Requests ask for no content encoding, and none is decoded.
        if view.bigEndian(0, 2) == 0x1F8B { return "compressed data (gzip)" }
        switch first {
        case Byte.less: return describeMarkup(view)
        case Byte.openBrace, Byte.openBracket: return isText(bytes) ? "JSON" : "unknown data"
        default: return isText(bytes) ? "text" : "unknown data"
        }
    }

    private static func describeMarkup(_ view: ByteView) -> String {
        let prologue = MarkupPrologue(view)
        if prologue.isHTML { return "an HTML page" }
        if let root = prologue.root {
            let tags: [StaticString] = ["html", "head", "body", "title", "script", "meta", "div", "p>", "h1", "center"]
            if tags.contains(where: { view.hasIgnoringCase($0, at: root + 1) }) { return "an HTML page" }
        }
        return isText(view.bytes) ? "XML" : "unknown data"
    }

    /// Whether the first 512 bytes have no control characters except white space.
    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.prefix(512).allSatisfy { byte in byte >= 0x20 ? byte != 0x7F : Byte.isBlank(byte) }
    }
}
