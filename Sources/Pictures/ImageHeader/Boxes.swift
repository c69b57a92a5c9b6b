/// Iterates over the boxes of ISO/IEC 14496-12 section 4.2 in a range of bytes. It ends at a box whose length is not valid, or when it has
/// looked at the headers of 8,192 boxes, which are `ByteView.maximumBeginning` bytes.
struct Boxes: Sequence, IteratorProtocol {
    struct Box {
        /// The offset of the four characters of the type.
        var type: Int
        /// Cut at the end of a truncated body.
        var contents: Range<Int>
    }

    private let view: ByteView
    private var rest: Range<Int>
    private var remaining = ByteView.maximumBeginning / 8

    init(_ view: ByteView, in range: Range<Int>) {
        self.view = view
        rest = range
    }

    /// The contents of the first box of a type.
    func first(_ type: StaticString) -> Range<Int>? { first(where: { view.has(type, at: $0.type) })?.contents }

    mutating func next() -> Box? {
        let offset = rest.lowerBound
        guard remaining > 0, offset < rest.upperBound, let size = view.bigEndian(offset, 4) else { return nil }
        remaining -= 1
        var header = 8
        var length = size
        if size == 0 {
            length = rest.count  // to the end
        } else if size == 1 {
            // A 64-bit length. No cover exceeds 4 GiB.
            guard view.bigEndian(offset + 8, 4) == 0, let long = view.bigEndian(offset + 12, 4) else { return nil }
            header = 16
            length = long
        }
        guard length >= header, offset + header <= rest.upperBound else { return nil }
        // The last box of a truncated body is cut at its end.
        let end = Swift.min(offset + length, rest.upperBound)
        rest = end..<rest.upperBound
        return Box(type: offset + 4, contents: offset + header..<end)
    }
}
