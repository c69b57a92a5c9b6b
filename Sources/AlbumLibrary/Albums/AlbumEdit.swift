/// A step of a library's history, which `undo` reverts and `redo` repeats.
public struct AlbumEdit: Hashable, Sendable, Codable {
    /// What was done.
    public enum Kind: String, Sendable, Codable {
        /// Albums were added.
        case add
        /// Albums were deleted.
        case delete
        /// Fields of albums changed.
        case edit
    }

    /// An album and where it stood.
    public struct Placed: Hashable, Sendable, Codable {
        /// As it was, or as its fields are after the step.
        public var album: Album
        /// Its place in the library, from 0.
        public var index: Int
        /// The id of the album before it; `nil` for the first.
        var after: String?
        /// The album before its fields changed; `nil` where albums came or went.
        public var former: Album?

        init(album: Album, index: Int, after: String?, former: Album? = nil) {
            self.album = album
            self.index = index
            self.after = after
            self.former = former
        }

        private enum CodingKeys: CodingKey { case album, index, after, former }

        /// Reads what `encode` wrote.
        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            func album(_ key: CodingKeys, _ text: String) throws -> Album {
                if let album = Album(json: text) { return album }
                throw DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: "no album: \(text)")
            }
            self.album = try album(.album, try fields.decode(String.self, forKey: .album))
            index = try fields.decode(Int.self, forKey: .index)
            after = try fields.decodeIfPresent(String.self, forKey: .after)
            former = try fields.decodeIfPresent(String.self, forKey: .former).map { try album(.former, $0) }
        }

        /// The album as a text of JSON in a string: encoders would round its numbers and reorder its fields.
        public func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(album.json, forKey: .album)
            try fields.encode(index, forKey: .index)
            try fields.encodeIfPresent(after, forKey: .after)
            try fields.encodeIfPresent(former?.json, forKey: .former)
        }
    }

    /// What was done.
    public var kind: Kind
    /// To which albums, in the library's order.
    public var placed: [Placed]

    /// The step as an imperative: `Delete “Low Tide”`.
    public var title: String {
        switch kind {
        case .add: "Add " + subject
        case .delete: "Delete " + subject
        case .edit: "Edit " + subject
        }
    }

    /// How a step came to be taken.
    package enum Origin: Sendable {
        case new, undo, redo
    }

    /// The new step that has been taken: `Deleted “Low Tide”`.
    public var message: String { message(.new) }

    /// What taking this step did. An undo that brings a deleted album back is the step that adds it: `Restored “Low Tide”`.
    package func message(_ origin: Origin) -> String {
        if placed.isEmpty {
            switch kind {
            case .add: return "Nothing changed: it is in the library already"
            case .delete: return "Nothing changed: it was deleted already"
            case .edit: return "Nothing changed: it is like that already"
            }
        }
        return switch (kind, origin) {
        case (.add, .new): "Added \(subject)"
        case (.add, .undo): "Restored \(subject)"
        case (.add, .redo): "Added \(subject) again"
        case (.delete, .new): "Deleted \(subject)"
        case (.delete, .undo): "Removed \(subject)"
        case (.delete, .redo): "Deleted \(subject) again"
        case (.edit, .new): "Edited \(subject)"
        case (.edit, .undo): "Reverted \(subject)"
        case (.edit, .redo): "Edited \(subject) again"
        }
    }

    private var subject: String {
        guard placed.count == 1, let album = placed.first?.album else { return "\(placed.count) albums" }
        return "“\(album.title.isEmpty ? "untitled" : album.title.inMessage)”"
    }

    /// The step that reverts it.
    var inverse: AlbumEdit {
        switch kind {
        case .add: return AlbumEdit(kind: .delete, placed: placed)
        case .delete: return AlbumEdit(kind: .add, placed: placed)
        case .edit:
            let former = placed.map { placed in
                Placed(
                    album: placed.former ?? placed.album, index: placed.index, after: placed.after, former: placed.album
                )
            }
            return AlbumEdit(kind: .edit, placed: former)
        }
    }

    /// The part of the step that `albums` still needs. It deletes albums as they are now, changed or not since they were added.
    func effective(in albums: [Album]) -> AlbumEdit {
        let places = Dictionary(albums.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        switch kind {
        case .add: return AlbumEdit(kind: .add, placed: placed.filter { places[$0.album.id] == nil })
        case .delete: return albums.deleting(placed.compactMap { places[$0.album.id] })
        case .edit:
            let changed = placed.compactMap { placed -> Placed? in
                guard let index = places[placed.album.id] else { return nil }
                let edited = albums[index].edited(from: placed.former, to: placed.album)
                if edited == albums[index] { return nil }
                return albums.placed(edited, at: index, former: albums[index])
            }
            return AlbumEdit(kind: .edit, placed: changed)
        }
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
        case .edit:
            for placed in placed {
                guard let index = albums.firstIndex(where: { $0.id == placed.album.id }) else { continue }
                albums[index] = albums[index].edited(from: placed.former, to: placed.album)
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
            placed: indices.sorted().map { placed(self[$0], at: $0) })
    }

    /// An album that stands, or stood, at `index`.
    fileprivate func placed(_ album: Album, at index: Int, former: Album? = nil) -> AlbumEdit.Placed {
        .init(album: album, index: index, after: index > 0 ? self[index - 1].id : nil, former: former)
    }
}

extension Album {
    /// This album with the fields that differ between `former` and `new` as `new` has them. Other fields keep what another
    /// program or a person has written there since `former` was read.
    fileprivate func edited(from former: Album?, to new: Album) -> Album {
        guard let former else { return self }
        var album = self
        let texts: [WritableKeyPath<Album, String>] = [\.title, \.artist, \.genre, \.year]
        for text in texts where former[keyPath: text] != new[keyPath: text] {
            album[keyPath: text] = new[keyPath: text]
        }
        if former.coverUrl != new.coverUrl { album.coverUrl = new.coverUrl }
        if otherFields == former.otherFields {
            album.otherFields = new.otherFields  // in their order
        } else {
            for name in Set((former.otherFields + new.otherFields).map(\.name)) {
                let value = new.otherField(name)
                if former.otherField(name) != value { album.setOtherField(name, value) }
            }
        }
        album.id = id  // without one of its own it would follow from the new texts
        return album
    }

    private func otherField(_ name: String) -> JSONValue? { otherFields.first { $0.name == name }?.value }

    private mutating func setOtherField(_ name: String, _ value: JSONValue?) {
        let index = otherFields.firstIndex { $0.name == name }
        switch (index, value) {
        case (let index?, let value?): otherFields[index].value = value
        case (let index?, nil): otherFields.remove(at: index)
        case (nil, let value?): otherFields.append(JSONMember(name, value))
        case (nil, nil): break
        }
    }
}
