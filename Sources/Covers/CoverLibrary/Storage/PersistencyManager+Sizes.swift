import CoverCache
import Synchronization

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
