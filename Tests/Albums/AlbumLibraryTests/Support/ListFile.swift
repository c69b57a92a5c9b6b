import Foundation

@testable import AlbumLibrary

/// A file that lives as long as this value.
final class ListFile {
    let path: String

    init(_ bytes: some Sequence<UInt8>, name: String = "list") throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent(name).path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
    }
}

extension ListFile {
    func elements(_ options: ListOptions = ListOptions()) throws -> [ListElement] {
        try AlbumListReader(path: path, options).elements()
    }
}

extension AlbumListReader {
    func elements() throws -> [ListElement] {
        var elements: [ListElement] = []
        while let more = try next() { elements += more }
        return elements
    }
}

/// The elements of a list that has this text.
func list(_ text: String, name: String = "list", _ options: ListOptions = ListOptions()) throws -> [ListElement] {
    try ListFile(text.utf8, name: name).elements(options)
}

extension [ListElement] {
    /// The URLs of items, and the messages of problems.
    var urls: [String] {
        map { element in
            switch element {
            case .item(let item): item.url
            case .problem(let problem): problem.message
            }
        }
    }

    var albums: [Album] {
        compactMap { element in
            switch element {
            case .item(let item): item.album
            case .problem(let problem): problem.album
            }
        }
    }
}
