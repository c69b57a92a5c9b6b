/// A record: one that was put and is not committed yet, or an intact one found in a segment.
struct SegmentRecord: Sendable {
    var header: RecordHeader
    var metadata: EntryMetadata
    var segment: Int
    var offset: Int

    var position: RecordPosition { RecordPosition(segment: segment, offset: offset) }
    var range: FreedRange {
        FreedRange(segment: segment, offset: offset, length: RecordHeader.charge(header.span))
    }
}

/// Reads a segment record by record: to recover what a dead writer left, and to rebuild the index.
enum SegmentScanner {
    enum Found {
        case record(SegmentRecord)
        /// Bytes that begin like a record but are torn or damaged.
        case damage(offset: Int)
        /// The disk could not read what is at the offset.
        case unreadable(CacheError)
    }

    /// Calls `visit` for everything found from `offset` on. Holes and blocks without a record are skipped.
    /// - Parameters:
    ///   - number: the segment's number.
    ///   - limit: the offset to stop at, if the file is longer.
    ///   - check: how much of each record is read and compared.
    ///   - verified: offsets of records whose bodies were verified before. They are not read again.
    /// - Returns: the offset after the last intact record.
    static func scan(
        _ file: SegmentFile, _ number: Int, from start: Int = 0, to limit: Int = .max,
        checking check: RecordState.Check = .checksum, trusting verified: Set<Int> = [], visit: (Found) throws -> Void
    ) throws -> Int {
        let length = min(file.length, limit)
        var offset = start
        var intactEnd = start
        while offset < length {
            let data = file.nextData(from: offset)
            guard data < length else { break }
            offset = data & ~(RecordHeader.alignment - 1)
            func record() throws(CacheError) -> Found? {
                try Self.record(
                    file, number, at: offset, end: length, checking: verified.contains(offset) ? .front : check)
            }
            let found: Found?
            do {
                // A disk may succeed at the second attempt.
                do { found = try record() } catch { found = try record() }
            } catch {
                found = .unreadable(error)
            }
            guard let found else {
                offset += RecordHeader.alignment
                continue
            }
            try visit(found)
            switch found {
            case .record(let record):
                offset += RecordHeader.charge(record.header.span)
                intactEnd = offset
            case .damage, .unreadable:
                offset += RecordHeader.alignment
            }
        }
        return intactEnd
    }

    /// Returns nil if no record begins at `offset`.
    static func record(
        _ file: SegmentFile, _ number: Int, at offset: Int, end: Int, checking check: RecordState.Check
    ) throws(CacheError) -> Found? {
        guard let start = try file.read(at: offset, length: RecordHeader.size),
            start.withUnsafeBytes({ $0.loadUnaligned(as: UInt64.self) }) == RecordHeader.magic.littleEndian
        else { return nil }
        let damage = Found.damage(offset: offset)
        // A damaged header may state any length. It is compared with the file's before memory is allocated.
        guard let header = start.withUnsafeBytes({ RecordHeader($0) }), header.span <= end - offset,
            let bytes = try file.read(
                at: offset, length: check == .front ? RecordHeader.size + header.metadataLength : header.span)
        else { return damage }
        return bytes.withUnsafeBytes { bytes in
            guard case .intact(let header) = RecordState(bytes, checking: check) else { return damage }
            let metadata = UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.size...].prefix(header.metadataLength))
            guard let metadata = EntryMetadata(decoding: metadata) else { return damage }
            return .record(SegmentRecord(header: header, metadata: metadata, segment: number, offset: offset))
        }
    }
}
