import Foundation
import Testing

@testable import CoverCache

/// Random histories of a few covers that share bytes and replace each other. Each part ends with a closed cache, a killed process, power
/// loss, a lost index, or a killed rebuild of it.
@Suite struct HistoryTests {
    private static let count = ProcessInfo.processInfo.environment["SLEEVE_LONG_TESTS"] != nil ? 2_000 : 60

    private enum End: CaseIterable { case closed, killed, powerLoss, lostIndex, killedRebuild }

    /// One history.
    private struct History {
        let folder: CacheFolder
        var random: Randomness
        /// The numbers of the covers that each URL may have: the one that was acknowledged last, and those that arrived later but were
        /// not acknowledged, because the bytes that they shared were gone.
        var covers: [Int: [Int]] = [:]
        /// The URLs whose covers were removed or evicted.
        var removed: Set<Int> = []
        var pinned: Set<Int> = []
        /// What happened, for a failure's message.
        var log: [String] = []
        private var time: Int64 = 1_700_000_000_000

        init(_ folder: CacheFolder, seed: Int) {
            self.folder = folder
            // The numbers of neighbouring seeds are the same, but for the first.
            random = Randomness(seed: UInt64(seed) * 1_000_003)
        }

        /// Two processes store covers, and end.
        mutating func runPart() throws {
            let end = End.allCases.randomElement(using: &random)!
            let index = try store(closing: end == .closed)
            log.append("\(end)")
            if end == .closed || end == .killed { return }
            try folder.deleteIndex()
            if end == .lostIndex || end == .killedRebuild { removed = [] }
            if end == .lostIndex { return }
            // The index that a process has created and not filled when it is killed.
            if end == .killedRebuild {
                _ = try IndexFile.openForWriting(CacheDirectory(creating: folder.path))
                return
            }
            for (suffix, bytes) in index { try Bytes.write(bytes, to: folder.index + suffix) }
        }

        /// - Returns: the index's files as power loss may leave them: with commits missing that were not synced.
        private mutating func store(closing isClosing: Bool) throws -> [String: [UInt8]] {
            let writers = [try CacheWriter(directory: folder.path), try CacheWriter(directory: folder.path)]
            var durable = try indexFiles()
            for _ in 0..<Int.random(in: 1...10, using: &random) {
                let number = Int.random(in: 0..<2, using: &random)
                switch Int.random(in: 0...15, using: &random) {
                case 0:
                    log.append("\(number) rebuilds")
                    _ = try writers[number].rebuild()
                    durable = try indexFiles()
                case 15:
                    log.append("\(number) repairs")
                    let report = try writers[number].repair()
                    try #require(report.found.defects == [] && report.dropped == 0, "\(log)")
                case 1: durable = try indexFiles()
                case 2:
                    let key = Int.random(in: 0..<6, using: &random)
                    log.append("\(number) removes \(key)")
                    let before = try folder.reader().keys()
                    _ = try writers[number].remove([url(key)], includingPinned: true)
                    // A key without an entry is ignored.
                    if before.contains(url(key)) { pinned.remove(key) }
                    try writers[number].savePins()
                    durable = try didRemove()
                    let rest = try folder.reader().keys()
                    try #require(Set(rest) == Set(before).subtracting([url(key)]), "\(log)")
                case 3:
                    log.append("\(number) evicts")
                    let before = try folder.reader().keys()
                    _ = try writers[number].evict(to: Int.random(in: 0...4, using: &random) * RecordHeader.alignment)
                    durable = try didRemove()
                    let rest = try folder.reader().keys()
                    try #require(Set(before).intersection(pinned.map(url)).isSubset(of: rest), "\(log)")
                case 4:
                    let key = Int.random(in: 0..<6, using: &random)
                    if pinned.remove(key) == nil {
                        pinned.insert(key)
                        _ = try writers[number].pin([url(key)])
                    } else {
                        _ = try writers[number].unpin([url(key)])
                    }
                    log.append("\(number) pins \(pinned)")
                    try writers[number].savePins()
                    durable = try indexFiles()
                default:
                    // What was not taken is given back: the index's log is synced before.
                    if try !storeGroup(writers[number], number) { durable = try indexFiles() }
                }
            }
            if isClosing { for writer in writers { try writer.close() } }
            return durable
        }

        /// Removes what the cache does not have any more. Its blocks are given back: what removed it is durable.
        private mutating func didRemove() throws -> [String: [UInt8]] {
            let keys = Set(try folder.reader().keys())
            for key in covers.keys where !keys.contains(url(key)) {
                covers[key] = nil
                removed.insert(key)
            }
            return try indexFiles()
        }

        /// Returns whether all covers were stored.
        private mutating func storeGroup(_ writer: CacheWriter, _ number: Int) throws -> Bool {
            var areStored = true
            var put: [(key: Int, cover: Int)] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                put.append((Int.random(in: 0..<6, using: &random), Int.random(in: 0..<4, using: &random)))
                time += 1
                try writer.put(url(put.last!.key), picture(put.last!.cover, bytes: 600), storedAt: time)
            }
            for ((key, cover), outcome) in zip(put, try writer.commit()) {
                log.append("\(number): \(key) = \(cover)")
                removed.remove(key)
                if case .stored = outcome {
                    covers[key] = [cover]
                } else {
                    areStored = false
                    covers[key]?.append(cover)
                    log.append("\(outcome)")
                }
            }
            return areStored
        }

        /// The blocks of the segments that are no holes, in bytes. Each record has one block.
        func usedBytes() throws -> Int {
            try folder.segmentNames.reduce(0) { sum, name in
                let bytes = try Bytes.of("\(folder.path)/segments/\(name)")
                let starts = stride(from: 0, to: bytes.count, by: RecordHeader.alignment)
                return sum + starts.count { bytes[$0] != 0 } * RecordHeader.alignment
            }
        }

        private func indexFiles() throws -> [String: [UInt8]] {
            var files: [String: [UInt8]] = [:]
            for suffix in ["", "-wal"] where Bytes.exists(folder.index + suffix) {
                files[suffix] = try Bytes.of(folder.index + suffix)
            }
            return files
        }
    }

    @Test(arguments: 0..<count)
    func `covers that share bytes and replace each other survive whatever ends the processes`(seed: Int) throws {
        try withFolder { folder in
            var history = History(folder, seed: seed)
            for _ in 0..<4 {
                try history.runPart()
                let contents = try folder.contents()
                for (key, covers) in history.covers {
                    let found = covers.first { contents[url(key)] == picture($0, bytes: 600) }
                    history.covers[key] = [try #require(found, "\(key): \(history.log)")]
                }
                for key in history.removed { try #require(contents[url(key)] == nil, "\(key): \(history.log)") }
                try folder.reader().entries { entry in
                    let isPinned = history.pinned.contains { url($0) == entry.metadata.key }
                    try #require(entry.isPinned == isPinned, "\(entry.metadata.key): \(history.log)")
                }
                try #require(try folder.defects().isEmpty, "\(history.log)")
                let charged = try folder.written { try $0.statistics().charged }
                let used = try history.usedBytes()
                try #require(used == charged, "\(used) bytes in use, \(charged) charged: \(history.log)")
            }
        }
    }
}
