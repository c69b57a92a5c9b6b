import CommandSupport
import Foundation
import Testing

@Suite struct TemporaryFolderTests {
    @Test func `what a killed process has left is removed with the next folder of its name, and nothing else`() throws {
        let parent = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let used = try TemporaryFolder(in: parent, name: "sleeve-fill")
        let old = ["sleeve-fill-killed", "sleeve-fill-of-a-person", "sleeve-audit-killed"].map { "\(parent)/\($0)" }
        for folder in old + ["\(parent)/sleeve-fill-justnw"] {
            try FileManager.default.createDirectory(atPath: folder + "/tags", withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(
            atPath: parent + "/sleeve-fill-linked", withDestinationPath: old[2])
        for folder in old + [used.path] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: folder)
        }
        let next = try TemporaryFolder(in: parent, name: "sleeve-fill")
        let left = try FileManager.default.contentsOfDirectory(atPath: parent)
        let names = ["sleeve-fill-of-a-person", "sleeve-audit-killed", "sleeve-fill-justnw", "sleeve-fill-linked"]
        #expect(Set(left) == Set(names + [used, next].map { ($0.path as NSString).lastPathComponent }), "\(left)")
        next.removeAll()
        #expect(!FileManager.default.fileExists(atPath: next.path))
    }
}
