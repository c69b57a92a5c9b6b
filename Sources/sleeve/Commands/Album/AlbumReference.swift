import ArgumentParser
import CoverLibrary

/// How a person names an album: its number in the list, its title, or its id.
struct AlbumReference: ExpressibleByArgument {
    var text: String
    init(argument: String) { text = argument }

    private enum Way: String, CaseIterable {
        case number, title, id
    }

    /// The index of the album in `albums`.
    /// - Throws: an exit code, after an error message: there is no such album, or there are several.
    func index(in albums: [Album]) throws -> Int {
        for way in Way.allCases where text.hasPrefix("\(way.rawValue):") {
            let name = String(text.dropFirst(way.rawValue.count + 1))
            return try only(Self.find(name, way, albums), name, way, albums)
        }
        let found = Way.allCases.map { ($0, Self.find(text, $0, albums)) }.filter { !$0.1.isEmpty }
        if Set(found.flatMap(\.1)).count > 1, found.count > 1 {
            let ways = found.map { "\($0.0):\(text)" }.joined(separator: " or ")
            throw fail("“\(text)” matches several albums; write \(ways)")
        }
        let (way, indices) = found.first ?? (Int(text) == nil ? .title : .number, [])
        return try only(indices, text, way, albums)
    }

    private static func find(_ name: String, _ way: Way, _ albums: [Album]) -> [Int] {
        switch way {
        case .number: return Int(name).flatMap { albums.indices.contains($0 - 1) ? [$0 - 1] : nil } ?? []
        case .id: return albums.indices.filter { albums[$0].id == name }
        case .title:
            let folded = name.lowercased()
            return albums.indices.filter { albums[$0].title.lowercased() == folded }
        }
    }

    private func only(_ found: [Int], _ name: String, _ way: Way, _ albums: [Album]) throws -> Int {
        if let index = found.first, found.count == 1 { return index }
        if found.count > 1 {
            let numbers = found.prefix(10).map { String($0 + 1) }.joined(separator: ", ")
            throw fail("\(found.count) albums are titled “\(name)”; name one by its number: \(numbers)")
        }
        if way == .number {
            throw fail(
                "there is no album \(name); the library has \(albums.count == 1 ? "1 album" : "\(albums.count) albums")"
            )
        }
        let kind = way == .id ? "with the id" : "titled"
        throw fail("there is no album \(kind) “\(name)”; `sleeve album list` shows the albums")
    }
}
