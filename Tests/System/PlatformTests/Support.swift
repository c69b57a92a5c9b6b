import Foundation

/// Runs `body` with a new folder, and removes the folder afterwards.
func withFolder(_ body: (_ path: String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
}
