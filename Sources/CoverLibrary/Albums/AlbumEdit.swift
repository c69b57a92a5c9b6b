/// A step of a library's history, which `undo` reverts and `redo` repeats.
public struct AlbumEdit: Hashable, Sendable, Codable {
    /// What was done.
    public enum Kind: String, Sendable, Codable {
        /// Albums were added.
        case add
        /// Albums were deleted.
        case delete
    }

    /// An album and where it stood.
    public struct Placed: Hashable, Sendable, Codable {
        /// As it was.
        public var album: Album
        /// Its place in the library, from 0.
        public var index: Int
        /// The id of the album before it; `nil` for the first.
        var after: String?

        init(album: Album, index: Int, after: String?) {
            self.album = album
            self.index = index
            self.after = after
        }

        private enum CodingKeys: CodingKey { case album, index, after }

        /// Reads what `encode` wrote.
        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let text = try fields.decode(String.self, forKey: .album)
            guard let album = Album(json: text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .album, in: fields, debugDescription: "no album: \(text)")
            }
            self.album = album
            index = try fields.decode(Int.self, forKey: .index)
            after = try fields.decodeIfPresent(String.self, forKey: .after)
        }

        /// The album as a text of JSON in a string: encoders would round its numbers and reorder its fields.
        public func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(album.json, forKey: .album)
            try fields.encode(index, forKey: .index)
            try fields.encodeIfPresent(after, forKey: .after)
        }
    }

    /// What was done.
    public var kind: Kind
    /// To which albums, in the library's order.
    public var placed: [Placed]

    /// The step as an imperative: `Delete “Low Tide”`.
    public var title: String { (kind == .add ? "Add " : "Delete ") + subject }

    /// How a step came to be taken.
    package enum Origin: Sendable {
        case new, undo, redo
    }

    /// The new step that has been taken: `Deleted “Low Tide”`.
    public var message: String { message(.new) }

    /// What taking this step did. An undo that brings a deleted album back is the step that adds it: `Restored “Low Tide”`.
    package func message(_ origin: Origin) -> String {
        if placed.isEmpty {
            return "Nothing changed: " + (kind == .add ? "it is in the library already" : "it was deleted already")
        }
        return switch (kind, origin) {
        case (.add, .new): "Added \(subject)"
        case (.add, .undo): "Restored \(subject)"
        case (.add, .redo): "Added \(subject) again"
        case (.delete, .new): "Deleted \(subject)"
        case (.delete, .undo): "Removed \(subject)"
        case (.delete, .redo): "Deleted \(subject) again"
        }
    }

    private var subject: String {
        guard placed.count == 1, let album = placed.first?.album else { return "\(placed.count) albums" }
        return "“\(album.title.isEmpty ? "untitled" : album.title.inMessage)”"
    }

    /// The step that reverts it.
    var inverse: AlbumEdit { AlbumEdit(kind: kind == .add ? .delete : .add, placed: placed) }

    /// The part of the step that `albums` still needs. It deletes albums as they are now, changed or not since they were added.
    func effective(in albums: [Album]) -> AlbumEdit {
        let places = Dictionary(albums.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        if kind == .delete { return albums.deleting(placed.compactMap { places[$0.album.id] }) }
        return AlbumEdit(kind: kind, placed: placed.filter { places[$0.album.id] == nil })
    }

    /// The same step with the albums as `change` found them, so that its inverse restores those.
    func remembering(_ change: AlbumEdit) -> AlbumEdit {
        let found = Dictionary(change.placed.map { ($0.album.id, $0) }, uniquingKeysWith: { first, _ in first })
        return AlbumEdit(kind: kind, placed: placed.map { found[$0.album.id] ?? $0 })
    }

    /// Takes the step. Albums are identified by their ids, so it works in a library that other programs have edited
    /// meanwhile. Taking it twice changes no more than taking it once.
    func apply(to albums: inout [Album]) {
        switch kind {
        case .delete:
            let gone = Set(placed.map(\.album.id))
            albums.removeAll { gone.contains($0.id) }
        case .add:
            let there = Set(albums.map(\.id))
            for placed in placed where !there.contains(placed.album.id) {
                albums.insert(placed.album, at: Self.place(of: placed, in: albums))
            }
        }
    }

    /// After the album that preceded it; if that is gone, at its old index or at the end.
    private static func place(of placed: Placed, in albums: [Album]) -> Int {
        guard let after = placed.after else { return 0 }
        let expected = placed.index - 1
        if albums.indices.contains(expected), albums[expected].id == after { return placed.index }
        if let index = albums.firstIndex(where: { $0.id == after }) { return index + 1 }
        return min(placed.index, albums.count)
    }
}

extension [Album] {
    /// The step that adds `albums` from `index` on.
    func adding(_ albums: [Album], at index: Int) -> AlbumEdit {
        var placed: [AlbumEdit.Placed] = []
        var after = index > 0 ? self[index - 1].id : nil
        for (offset, album) in albums.enumerated() {
            placed.append(.init(album: album, index: index + offset, after: after))
            after = album.id
        }
        return AlbumEdit(kind: .add, placed: placed)
    }

    /// The step that deletes the albums at `indices`.
    func deleting(_ indices: [Int]) -> AlbumEdit {
        AlbumEdit(
            kind: .delete,
            placed: indices.sorted().map { index in
                .init(album: self[index], index: index, after: index > 0 ? self[index - 1].id : nil)
            })
    }
}
