import CoverCache
import Foundation
import Testing

@testable import CoverLibrary

@Suite struct RepairTests {
    private static let covers = 150
    private static let page = 4_096

    private func body(_ number: Int) -> [UInt8] { (0..<700).map { UInt8(truncatingIfNeeded: $0 &* number &+ number) } }

    /// A cache of covers whose index is checkpointed: no copy of a page is left in the log.
    private func fill(_ path: String) throws {
        let writer = try CacheWriter.open(path)
        for number in 0..<Self.covers {
            let metadata = EntryMetadata(
                key: "http://covers.example/\(number).jpg", mediaType: "image/jpeg", storedAt: 1_700_000_000_000)
            _ = try body(number).withUnsafeBytes { try writer.put(metadata, body: $0) }
        }
        _ = try writer.commit()
        try writer.close()
    }

    @Test(arguments: [false, true])
    func `a repair brings every cover back, whichever page of the index is spoilt`(isZeroed: Bool) async throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        try fill(root + "/whole")
        let length = try Data(contentsOf: URL(filePath: root + "/whole/index.sqlite3")).count
        #expect(length > 10 * Self.page)
        for page in 0..<(length / Self.page) {
            let path = "\(root)/\(page)"
            try FileManager.default.copyItem(atPath: root + "/whole", toPath: path)
            let index = try FileHandle(forUpdating: URL(filePath: path + "/index.sqlite3"))
            try index.seek(toOffset: UInt64(page * Self.page))
            try index.write(contentsOf: (0..<Self.page).map { isZeroed ? 0 : UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
            try index.close()
            let manager = PersistencyManager(cacheDirectory: path, capacity: nil, hub: EventHub())
            let opened = try await manager.open()
            try await manager.withWriter { writer in
                var found = try opened.verify()
                while !found.isMended { try writer.mend(&found) }
            }
            #expect(try opened.totals().entries == Self.covers, "page \(page)")
            await manager.close()
            let reader = try CacheReader(directory: CacheDirectory(creating: path))
            for number in 0..<Self.covers {
                guard case .hit(_, let bytes) = try reader.cover(for: "http://covers.example/\(number).jpg") else {
                    Issue.record("page \(page): cover \(number) is lost")
                    continue
                }
                #expect(bytes == body(number))
            }
        }
    }
}
