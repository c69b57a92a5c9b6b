import Platform

/// Whether the bytes of a record are as they were written.
enum RecordState {
    case intact(RecordHeader)
    /// The header or the metadata is damaged.
    case damagedFront
    /// The body is damaged, or shorter than the header states.
    case damagedBody(RecordHeader)

    /// How much of a record is compared with its checksums.
    enum Check {
        /// Header and metadata. The body may be missing.
        case front
        /// The body's checksum, too.
        case checksum
        /// SHA-256 of the body, too.
        case digest
    }

    /// - Parameter bytes: may be longer than the record.
    init(_ bytes: UnsafeRawBufferPointer, checking check: Check) {
        self = .damagedFront
        guard let header = RecordHeader(bytes) else { return }
        let bodyStart = RecordHeader.size + header.metadataLength
        guard bodyStart <= bytes.count, RecordHeader.isIntact(UnsafeRawBufferPointer(rebasing: bytes[..<bodyStart]))
        else { return }
        self = .intact(header)
        if header.isReference || check == .front { return }
        self = .damagedBody(header)
        guard header.span <= bytes.count else { return }
        let body = UnsafeRawBufferPointer(rebasing: bytes[bodyStart..<header.span])
        guard Checksum.of(body) == header.bodyChecksum, check != .digest || Digest(of: body) == header.digest else {
            return
        }
        self = .intact(header)
    }
}
