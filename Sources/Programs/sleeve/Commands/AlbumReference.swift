import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder

/// An argument that names an album: its number in the list, its title, its id or its folder. The title may follow the artist,
/// `artist - title`, and be written as messages and `sleeve fill review` print it: `7. artist, title (year)`.
struct AlbumReference: ExpressibleByArgument {
    var text: String
    init(argument: String) { text = argument }

    private enum Kind: String, CaseIterable {
        case number, title, id
    }

    private func index(_ albums: [Album], _ library: String, _ numbers: [Int: Int?]) throws -> Int {
        let prefix = Kind.allCases.first { text.hasPrefix("\($0.rawValue):") }
        let name = prefix.map { String(text.dropFirst($0.rawValue.count + 1)) } ?? text
        let kinds = prefix.map { [$0] } ?? Kind.allCases
        let found = kinds.map { ($0, Self.find(name, $0, albums, numbers)) }.filter { !$0.1.isEmpty }
        if Set(found.flatMap(\.1)).count > 1, found.count > 1 {
            let choices = found.map { "\($0.0):\(text)" }.joined(separator: " or ")
            throw fail("“\(text)” matches several albums; write \(choices)")
        }
        let (kind, indices) = found.first ?? (prefix ?? (Int(text) == nil ? .title : .number), [])
        if let index = indices.first, indices.count == 1 { return index }
        if !indices.isEmpty { throw Self.several(indices, "are titled “\(name)”", albums, library) }
        if kind == .number, !numbers.isEmpty {
            throw fail("`sleeve fill review` has no number \(name); name the album by its title, its id or its folder")
        }
        if kind == .number {
            throw fail("there is no album \(name); the library has \(Decimals.count(albums.count, "album"))")
        }
        let criterion = kind == .id ? "with the id" : "titled"
        throw fail("there is no album \(criterion) “\(name)”; `sleeve album list` shows the albums")
    }

    /// The index of the album in `albums`. It may also be named by a folder that it is in, or by a file there.
    /// - Parameters:
    ///   - library: The library file.
    ///   - inReview: Numbers are first those that `fill review` prints.
    /// - Throws: An exit code, after an error message, if no album matches or several do.
    func index(in albums: [Album], of library: String, inReview: Bool = false) throws -> Int {
        let numbers = inReview ? try Self.proposals(albums, library) : [:]
        let given = BytePath(text)
        let path = given.resolved
        guard text.contains("/") || path != nil,
            Kind.allCases.allSatisfy({ Self.find(text, $0, albums, numbers).isEmpty })
        else { return try index(albums, library, numbers) }
        let ids = Set(try MusicState.existing(of: library)?.albums(at: path ?? given) ?? [])
        let found = albums.indices.filter { ids.contains(albums[$0].id) }
        if let index = found.first, found.count == 1 { return index }
        if found.isEmpty, path == nil { return try index(albums, library, numbers) }
        guard found.isEmpty else { throw Self.several(found, "are in \(given)", albums, library) }
        throw fail("no album of the library is in \(given); `sleeve album scan` adds those of a folder")
    }

    /// The album that is meant. - Throws: As `index`.
    func album(in albums: [Album], of library: LibraryAPI) throws -> Album {
        albums[try index(in: albums, of: library.configuration.libraryPath)]
    }

    /// The number of a text that is one, or that has one before a name.
    static func number(of text: String) -> Int? { text.split(separator: ". ", maxSplits: 1).first.flatMap { Int($0) } }

    /// The indices of albums by the numbers that fills have given to their doubtful covers; nil for those that the library has not any more.
    private static func proposals(_ albums: [Album], _ library: String) throws -> [Int: Int?] {
        let indices = Dictionary(zip(albums.map(\.id), albums.indices)) { first, _ in first }
        let proposals = try MusicState.existing(of: library)?.proposals() ?? []
        return Dictionary(uniqueKeysWithValues: proposals.map { ($0.number, indices[$0.album]) })
    }

    private static func find(_ name: String, _ kind: Kind, _ albums: [Album], _ numbers: [Int: Int?]) -> [Int] {
        switch kind {
        case .number:
            // The number alone, or before the name.
            let parts = name.split(separator: ". ", maxSplits: 1).map(String.init)
            guard let number = number(of: name), let index = numbers.isEmpty ? number - 1 : numbers[number] ?? nil,
                albums.indices.contains(index)
            else { return [] }
            if parts.count == 1 { return name.contains(".") ? [] : [index] }
            return find(parts[1], .title, albums, numbers).contains(index) ? [index] : []
        case .id: return albums.indices.filter { albums[$0].id == name }
        case .title:
            let wanted = name.withoutControls.lowercased()
            let found = albums.indices.filter { index in
                let album = albums[index]
                // Most titles are in no name that is asked for.
                guard wanted.contains(album.title.withoutControls.lowercased()) else { return false }
                let names = [album.title, "\(album.artist) - \(album.title)", album.shortName]
                return names.contains {
                    [$0, "\($0) (\(album.year))"].map { $0.withoutControls.lowercased() }.contains(wanted)
                }
            }
            // As it is printed it is one that has no year.
            let printed = found.filter { albums[$0].fullName.withoutControls.lowercased() == wanted }
            return printed.count == 1 && found.count > 1 ? printed : found
        }
    }

    /// Prints albums of which one is to be named. - Returns: The exit code.
    static func several(_ found: [Int], _ what: String, _ albums: [Album], _ library: String) -> ExitCode {
        let state = try? MusicState.existing(of: library)
        let choices = found.prefix(10).map { index in
            let folder = (try? state?.places(of: albums[index].id))?.first?.folders.first
            let place = folder.map { ", \($0)" } ?? ""
            return "\(albums[index].fullName), id \(albums[index].id)\(place)"
        }
        let more = found.count > 10 ? "; and \(found.count - 10) more" : ""
        return fail(
            "\(found.count) albums \(what); name one by its id or its folder: \(choices.joined(separator: "; "))\(more)",
            .validationFailure)
    }
}
