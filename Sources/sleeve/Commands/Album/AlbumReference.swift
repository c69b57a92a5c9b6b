import ArgumentParser
import CoverLibrary

/// How a person names an album: its number in the list, its id, or its title.
struct AlbumReference: ExpressibleByArgument {
    var text: String
    init(argument: String) { text = argument }

    /// Where it is in `albums`. Says why it is nowhere, and ends the command.
    func index(in albums: [Album]) throws -> Int {
        if let index = albums.firstIndex(where: { $0.id == text }) { return index }
        if let number = Int(text), albums.indices.contains(number - 1) { return number - 1 }
        let folded = text.lowercased()
        let found = albums.indices.filter { albums[$0].title.lowercased() == folded }
        if let index = found.first, found.count == 1 { return index }
        if found.count > 1 {
            let numbers = found.prefix(10).map { String($0 + 1) }.joined(separator: ", ")
            throw fail("\(found.count) albums are called “\(text)”; say which by its number: \(numbers)")
        }
        if Int(text) != nil { throw fail("there is no album \(text); the library has \(albums.count)") }
        throw fail("there is no album “\(text)”; `sleeve album list` shows what there is")
    }
}
