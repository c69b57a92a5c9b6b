import ArgumentParser
import CoverLibrary

/// How a person names an album: its number in the list, its title, or its id.
struct AlbumReference: ExpressibleByArgument {
    var text: String
    init(argument: String) { text = argument }

    private enum Way: String, CaseIterable {
        case number, title, id
    }

    /// Where it is in `albums`. Says why it is nowhere, or in several places, and ends the command.
    func index(in albums: [Album]) throws -> Int {
        for way in Way.allCases where text.hasPrefix("\(way.rawValue):") {
            let name = String(text.dropFirst(way.rawValue.count + 1))
            return try only(Self.find(name, way, albums), albums)
        }
        let found = Way.allCases.map { Self.find(text, $0, albums) }
        if Set(found.joined()).count > 1, found.count(where: { !$0.isEmpty }) > 1 {
            let ways = zip(Way.allCases, found).filter { !$0.1.isEmpty }.map { "\($0.0):\(text)" }
            throw fail("“\(text)” could be several albums; say \(ways.joined(separator: " or "))")
        }
        return try only(found.first { !$0.isEmpty } ?? [], albums)
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

    private func only(_ found: [Int], _ albums: [Album]) throws -> Int {
        if let index = found.first, found.count == 1 { return index }
        if found.count > 1 {
            let numbers = found.prefix(10).map { String($0 + 1) }.joined(separator: ", ")
            throw fail("\(found.count) albums are called “\(text)”; say which by its number: \(numbers)")
        }
        if Int(text) != nil { throw fail("there is no album \(text); the library has \(albums.count)") }
        throw fail("there is no album “\(text)”; `sleeve album list` shows what there is")
    }
}
