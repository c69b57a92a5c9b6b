import Platform

/// The result of `repair`.
package struct RepairReport: Sendable {
    package var found = VerifyReport()
    /// Damaged covers that were removed, by digest.
    package var dropped = 0
    /// Covers that the disk cannot read. They are kept: they may be whole.
    package var unreadable = 0
    /// The number of entries of the rebuilt index; nil if it was sound.
    package var rebuiltEntries: Int?

    package init(rebuiltEntries: Int? = nil) { self.rebuiltEntries = rebuiltEntries }
}

/// Removes what a verification has found to be damaged.
struct Repair {
    /// A transaction handles this many covers, so that other processes can write in between.
    private static let slice = 500
    private let index: IndexWriter

    init(_ index: IndexWriter) { self.index = index }

    /// - Throws: `CacheError.noCovers` if no cover has a file: their folder is more likely to be elsewhere than lost.
    func mend(_ found: Verification.Found, _ report: inout RepairReport) throws {
        let covers = index.directory.covers
        report.unreadable = found.unreadable
        if !found.damaged.isEmpty, try covers.folders().isEmpty { throw CacheError.noCovers(covers.path) }
        for start in stride(from: 0, to: found.damaged.count, by: Self.slice) {
            report.dropped += try index.directory.usingReserve {
                try index.transaction { changes in
                    try found.damaged[start...].prefix(Self.slice).count { cover in
                        // It may have been downloaded again since.
                        guard let row = try index.table.cover(cover.digest), row.id == cover.id,
                            try covers.read(cover.digest, length: cover.length) == nil
                        else { return false }
                        try changes.removeCover(row)
                        return true
                    }
                }
            }
        }
        for digest in found.damagedSizes { _ = index.directory.sizes.remove(digest) }
        if found.hasWrongCounts { try index.transaction { try $0.state.recount(index.connection) } }
    }
}
