import CoverCache
import CoverFetch
import CoverSizes
import ImageHeader
import Logging
import Platform
import Synchronization

/// Covers in smaller sizes: as they are kept in the cache, else made from the covers' bytes.
extension Shelf {
    struct SizeKey: Hashable, Sendable {
        var digest: Digest
        var longestSide: Int
    }

    /// What became of a cover that was to be made smaller.
    enum MadeSize: Sendable {
        case made(CachedEntry, bytes: [UInt8])
        /// It is used as it is.
        case original(CachedEntry, body: [UInt8], Reduction.Reason)
        case missing
        case damaged(key: String)
    }

    static func requireKept(_ longestSide: Int, of url: String) throws(CoverFailure) {
        if SizeFolder.steps.contains(longestSide) { return }
        let kept = SizeFolder.steps.map(String.init).joined(separator: ", ")
        let detail = "\(longestSide) pixels is none of the sizes that are kept: \(kept)"
        throw CoverFailure(.badSize, url: url, detail: detail)
    }

    /// A cached cover in a smaller size, or as it is if it cannot be made smaller; nil if there is no such cover. Counts as a use.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    func cover(_ digest: Digest, longestSide: Int) async throws(CoverFailure) -> Cover? {
        do {
            if SizeFolder.steps.contains(longestSide),
                let kept = try await read({ try Self.kept(digest, longestSide, $0) })
            {
                passUsageOn(ofAtLeast: 1_024)
                return kept
            }
            return try await makeSize(digest, longestSide, isUrgent: true)
        } catch {
            throw CoverFailure(cache: error, url: "")
        }
    }

    /// The same on the caller's thread, in one of the sizes that are kept.
    func cover(_ digest: Digest, longestSide: Int) throws(CoverFailure) -> Cover? {
        do {
            if let kept = try Self.kept(digest, longestSide, reader) { return kept }
            let key = SizeKey(digest: digest, longestSide: longestSide)
            let made = try Self.made(key, reader, persistency)
            if case .damaged(let key) = made { Task { await drop(key) } }
            return cover(made, key)
        } catch {
            throw CoverFailure(cache: error, url: "")
        }
    }

    private static func kept(_ digest: Digest, _ longestSide: Int, _ reader: CacheReader) throws -> Cover? {
        guard let (entry, bytes) = try reader.size(digest, longestSide), let bytes else { return nil }
        return Cover(entry, size: bytes)
    }

    /// Makes a size and has the disk thread keep it, if it is one that is kept.
    /// - Parameter isUrgent: before those that are made ahead.
    func makeSize(_ digest: Digest, _ longestSide: Int, isUrgent: Bool) async throws -> Cover? {
        if isClosed { throw CacheError.closed }
        let key = SizeKey(digest: digest, longestSide: longestSide)
        let made = try await sizes.value(for: key, isUrgent: isUrgent) { [reader, persistency] in
            try Self.made(key, reader, persistency)
        }
        if case .damaged(let key) = made { await drop(key) }
        return cover(made, key)
    }

    private func cover(_ made: MadeSize, _ key: SizeKey) -> Cover? {
        switch made {
        case .made(let entry, let bytes): return Cover(entry, size: bytes)
        case .original(let entry, let body, let reason):
            if reason == .damaged || reason == .noMemory {
                logger.debug("\(key.digest) is used as it is, not in \(key.longestSide) pixels: \(reason)")
            }
            return Cover(entry, body)
        case .missing, .damaged: return nil
        }
    }

    /// Blocks, on a thread of `sizes`.
    private static func made(
        _ key: SizeKey, _ reader: CacheReader, _ persistency: PersistencyManager
    ) throws -> MadeSize {
        switch try reader.cover(digest: key.digest) {
        case .miss: return .missing
        case .damaged(let key): return .damaged(key: key)
        case .hit(let entry, let body):
            switch body.withUnsafeBytes({ SmallPicture.reduce($0, to: key.longestSide) }) {
            case .original(let reason): return .original(entry, body: body, reason)
            case .made(let picture):
                guard SizeFolder.steps.contains(key.longestSide) else { return .made(entry, bytes: picture.bytes) }
                let size = SmallCover(
                    digest: key.digest, longestSide: key.longestSide, jpeg: picture.bytes, color: picture.color)
                persistency.keepSoon(size)
                return .made(entry, bytes: size.bytes)
            }
        }
    }
}

extension Cover {
    fileprivate init(_ entry: CachedEntry, size bytes: [UInt8]) {
        self.init(
            entry.metadata.key, bytes.withUnsafeBytes { ImageHeader($0) } ?? ImageHeader("image/jpeg"), bytes)
        isStale = Staleness(entry, at: WallClock.milliseconds()) != .fresh
    }
}

/// Covers in smaller sizes, which are written together.
extension PersistencyManager {
    /// Sizes that wait for the disk are written together.
    nonisolated func keepSoon(_ size: SmallCover) {
        let isFirst = madeSizes.withLock { sizes in
            sizes.append(size)
            return sizes.count == 1
        }
        if isFirst { Task { await keepSizes() } }
    }

    /// Writes the sizes that were made. They are disposable, so a failure is ignored: they are made again.
    func keepSizes() {
        let sizes = madeSizes.withLock { sizes in
            defer { sizes = [] }
            return sizes
        }
        guard !sizes.isEmpty, directory?.isBusy == false, let openWriter = try? writer() else { return }
        try? openWriter.keep(sizes)
    }

    /// Returns when not many sizes wait for the disk: they are in memory.
    nonisolated func waitForKeeping() async {
        if madeSizes.withLock({ $0.count }) > 256 { await keepSizes() }
    }
}
