/// A step of a library's history, which `undo` takes back and `redo` takes again.
public struct AlbumEdit: Hashable, Sendable, Codable {
    /// What was done.
    public enum Kind: String, Sendable, Codable {
        /// Albums came.
        case add
        /// Albums went.
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

    /// The step for people: `Delete “Low Tide”`.
    public var title: String {
        switch kind {
        case .add: "Add " + subject
        case .delete: "Delete " + subject
        case .edit: "Edit " + subject
        }
    }

    /// The step that has been taken: `Deleted “Low Tide”`. One that came too late, because somebody had changed the library
    /// file meanwhile, says so.
    public var message: String {
        switch kind {
        case .add: placed.isEmpty ? "It was there already" : "Added " + subject
        case .delete: placed.isEmpty ? "It was gone already" : "Deleted " + subject
        case .edit: placed.isEmpty ? "Nothing was left to change" : "Edited " + subject
        }
    }

    private var subject: String {
        guard placed.count == 1, let album = placed.first?.album else { return "\(placed.count) albums" }
        return "“\(album.title.isEmpty ? "untitled" : album.title.inMessage)”"
    }

    /// What takes it back.
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

    /// What of it is still to be done in `albums`. What it deletes is what is there now, whoever has changed it since.
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

    /// The same step, with the albums as `change` found them: that is what the opposite step brings back.
    func remembering(_ change: AlbumEdit) -> AlbumEdit {
        let found = Dictionary(change.placed.map { ($0.album.id, $0) }, uniquingKeysWith: { first, _ in first })
        return AlbumEdit(kind: kind, placed: placed.map { found[$0.album.id] ?? $0 })
    }

    /// Takes the step. Albums are told by their ids, so it is the same step in a library that others have edited
    /// meanwhile, and taking it twice changes no more than taking it once.
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

    /// After the album it stood after, else where it stood, as far as the library still reaches.
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
