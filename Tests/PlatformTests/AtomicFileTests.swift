import Foundation
import Testing

@testable import Platform

@Suite struct AtomicFileTests {
    @Test func `a file is overwritten in place whether it grows or shrinks`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data("0123456789".utf8).write(to: URL(fileURLWithPath: file))
        for text in ["abc", "", "abcdefghijklmnop", "x"] {
            try AtomicFile.overwrite(file, with: Array(text.utf8))
            #expect(FileManager.default.contents(atPath: file) == Data(text.utf8))
        }
        #expect(throws: SystemError.self) { try AtomicFile.overwrite(file + "/none", with: []) }
    }
}
