/// Iterates over the segments of a JPEG before the first scan (ITU-T T.81 annex B): each has a marker and a length. Fill bytes and stray
/// bytes between them are skipped, as decoders do. It ends at a segment whose length is not valid, or when it has looked at
/// `ByteView.maximumBeginning` bytes. The contents of segments, which may be megabytes of metadata, are passed unseen.
package struct JPEGSegments: Sequence, IteratorProtocol {
    package struct Segment {
        package var marker: UInt8
        /// Without the length. The body may end before it.
        package var contents: Range<Int>
    }

    private let view: ByteView
    /// Of the marker that the iteration has ended at, at its end.
    private(set) var offset = 2
    /// The number of bytes that may still be looked at.
    private var rest = ByteView.maximumBeginning

    package init(_ view: ByteView) { self.view = view }

    package mutating func next() -> Segment? {
        while let start = UnsafeRawBufferPointer(rebasing: view.bytes.prefix(offset + rest))
            .firstOffset(of: 0xFF, from: offset), let marker = view.byte(start + 1)
        {
            rest = Swift.max(0, rest - (start - offset) - 4)
            offset = start
            switch marker {
            // Any number of fill bytes may precede a marker (B.1.1.2).
            case 0xFF: offset += 1
            // A byte FF of data (B.1.1.5), and markers that stand alone.
            case 0x00, 0x01, 0xD0...0xD8: offset += 2
            // The end, or a scan.
            case 0xD9, 0xDA: return nil
            default:
                guard let length = view.bigEndian(start + 2, 2), length >= 2 else { return nil }
                offset += 2 + length
                return Segment(marker: marker, contents: start + 4..<offset)
            }
        }
        return nil
    }
}
