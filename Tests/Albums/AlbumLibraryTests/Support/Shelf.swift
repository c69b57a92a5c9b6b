import Foundation
import Logging

@testable import AlbumLibrary

/// A library file in a temporary directory.
struct Shelf: Sendable {
    let folder: String
    var file: String { folder + "/albums.json" }
    var state: String { file + ".state" }

    /// A store of the file, as another process would open it.
    func store(
        _ path: String? = nil, savingTimeout: Double = 2, onChange: @escaping @Sendable () -> Void = {}
    ) -> AlbumStore {
        AlbumStore(
            path: path ?? file, remote: nil, logger: Logger(label: "test"), savingTimeout: savingTimeout,
            onChange: onChange)
    }

    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }

    var text: String { get throws { try String(contentsOfFile: file, encoding: .utf8) } }
}

/// Runs `body` with a library file of `titles`, and removes the directory.
func withShelf(_ titles: [String]? = nil, _ body: (Shelf) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let shelf = Shelf(folder: folder)
    if let titles { try shelf.write("[" + titles.map { "{\"title\": \"\($0)\"}" }.joined(separator: ",") + "]") }
    try await body(shelf)
}

extension AlbumStore {
    var titles: [String] { get throws { try all().map(\.title) } }

    /// Deletes the album at an index.
    @discardableResult func delete(at index: Int) throws -> Album? {
        let albums = try all()
        return albums.indices.contains(index) ? try delete(albums[index].id) : nil
    }
}
