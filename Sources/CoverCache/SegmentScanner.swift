import CLinux

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A whole record found in a segment.
struct ScannedRecord {
    var head: RecordHead
    var metadata: EntryMetadata
    var offset: Int

    func range(in segment: Int) -> FreedRange {
        FreedRange(segment: segment, offset: offset, length: RecordHead.charge(head.span))
    }
}

/// Walks a segment record by record: for adopting what a dead writer left, and for rebuilding the index.
enum SegmentScanner {
    enum Found {
        case record(ScannedRecord)
        /// Bytes that begin like a record and are none: torn, or damaged.
        case damage(offset: Int)
    }

    /// Calls `visit` for everything found from `offset` on, and returns the offset after the last whole record.
    /// Holes and blank blocks are passed over. - Parameter verifyingDigest: recompute SHA-256 rather than the checksum alone.
    static func scan(
        _ descriptor: Int32, from start: Int = 0, verifyingDigest: Bool = false, visit: (Found) throws -> Void
    ) throws -> Int {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        var offset = start
        var soundEnd = start
        while offset < length {
            let data = skipHole(descriptor, offset)
            guard data < length else { break }
            offset = data & ~(RecordHead.alignment - 1)
            guard let found = try record(descriptor, at: offset, end: length, verifyingDigest: verifyingDigest) else {
                offset += RecordHead.alignment
                continue
            }
            try visit(found)
            switch found {
            case .record(let record):
                offset += RecordHead.charge(record.head.span)
                soundEnd = offset
            case .damage:
                offset += RecordHead.alignment
            }
        }
        return soundEnd
    }

    /// Nil when no record begins there.
    private static func record(
        _ descriptor: Int32, at offset: Int, end: Int, verifyingDigest: Bool
    ) throws -> Found? {
        guard let start = try SegmentFiles.readOrThrow(descriptor, offset: offset, length: RecordHead.size),
            start.withUnsafeBytes({ $0.loadUnaligned(as: UInt64.self) }) == RecordHead.magic.littleEndian
        else { return nil }
        let damage = Found.damage(offset: offset)
        // A damaged head may claim any length: no more is read than there is.
        guard let head = start.withUnsafeBytes({ RecordHead($0) }), head.span <= end - offset,
            let bytes = try SegmentFiles.readOrThrow(descriptor, offset: offset, length: head.span)
        else { return damage }
        return bytes.withUnsafeBytes { bytes in
            let bodyStart = RecordHead.size + head.metadataLength
            let front = UnsafeRawBufferPointer(rebasing: bytes[..<bodyStart])
            let body = UnsafeRawBufferPointer(rebasing: bytes[bodyStart...])
            guard RecordHead.isSound(front),
                let metadata = EntryMetadata(decoding: UnsafeRawBufferPointer(rebasing: front[RecordHead.size...]))
            else { return damage }
            if !head.isReference {
                guard Checksum.of(body) == head.bodyChecksum else { return damage }
                if verifyingDigest, Digest(of: body) != head.digest { return damage }
            }
            return .record(ScannedRecord(head: head, metadata: metadata, offset: offset))
        }
    }

    /// The next offset that holds data, where the file system can tell.
    private static func skipHole(_ descriptor: Int32, _ offset: Int) -> Int {
        #if os(Linux)
            let data = lseek(descriptor, off_t(offset), sleeve_seek_data)
            return data >= 0 ? Int(data) : errno == ENXIO ? Int.max : offset
        #else
            return offset
        #endif
    }
}
