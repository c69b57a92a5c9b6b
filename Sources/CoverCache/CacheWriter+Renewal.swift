import Platform

// Entries that the origin has confirmed.
extension CacheWriter {
    /// Changes times and fields of entries whose bytes stay. Nothing is appended to a segment. The changes survive the end of the
    /// process, not power loss; after that, the entries are revalidated again.
    /// - Returns: for each renewal, whether there still is an entry that is whole. An entry that was replaced meanwhile keeps what
    ///   replaced it. One that the origin has confirmed, but whose bytes or record are damaged or cannot be read, stays as it is: other
    ///   entries may share the bytes, and a new download repairs all.
    @discardableResult
    package func renew(_ renewals: [Renewal]) throws -> [Bool] {
        // A refresh changes every row. A longer log spares checkpoints that would write each page several times.
        defer { try? checkpointIfLong(Self.longLogLength * 6) }
        let (damaged, unnamed) = (try damagedDigests(in: renewals), try unnamedKeys(in: renewals))
        return try transaction { state, _ in
            try writeDeferred(&state)
            return try renewals.map { renewal in
                if renewal.isConfirmation, damaged.contains(renewal.digest) || unnamed.contains(renewal.key) {
                    return false
                }
                return try index.renew(renewal)
            }
        }
    }

    /// The keys that the origin has confirmed, and whose own records are damaged or missing.
    private func unnamedKeys(in renewals: [Renewal]) throws -> Set<String> {
        let references = try reading { _ in
            try renewals.lazy.filter(\.isConfirmation).compactMap { renewal in
                try index.reference(of: renewal.row, renewal.key).map { (renewal, $0) }
            }
        }
        return Set(references.filter { !isNamed($0.key, $0.digest, by: $1) }.map(\.0.key))
    }

    /// The digests that the origin has confirmed, and whose bytes are damaged or cannot be read.
    private func damagedDigests(in renewals: [Renewal]) throws -> Set<Digest> {
        // By digest: a rebuild of the index gives every blob another row.
        let digests = Set(renewals.lazy.filter(\.isConfirmation).map(\.digest))
        var blobs = try reading { _ in
            try digests.compactMap { digest in try index.blob(digest).map { (row: $0, digest: digest) } }
        }
        // In the order on the disk, for the kernel's read-ahead.
        blobs.sort { ($0.row.segment, $0.row.offset) < ($1.row.segment, $1.row.offset) }
        return Set(blobs.filter { !((try? isIntact($0.row, $0.digest)) ?? false) }.map(\.digest))
    }
}
