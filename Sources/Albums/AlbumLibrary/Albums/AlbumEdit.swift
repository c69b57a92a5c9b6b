/// A step in a library's history, which `undo` reverts and `redo` repeats.
public struct AlbumEdit: Hashable, Sendable, Codable {
    /// The kind of a step. Further kinds may be added.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: String, Sendable, Codable {
        /// Adds albums.
        case add
        /// Deletes albums.
        case delete
        /// Changes fields of albums.
        case edit
    }

    /// The effect of a step on one album.
    public struct Change: Hashable, Sendable, Codable {
        /// The album that is added or deleted, or an edited album with its new fields.
        public var album: Album
        /// Its index in the library, from 0.
        public var index: Int
        /// The id of the album before it; `nil` for the first.
        var precedingID: String?
        /// An edited album with its old fields; `nil` for an album that is added or deleted.
        public var former: Album?
    }

    private enum CodingKeys: String, CodingKey {
        case kind, changes
    }

    /// The kind of the step.
    public var kind: Kind
    /// The changed albums, in the library's order.
    public var changes: [Change]
    /// The number of the library's latest edit, undo or redo: this one's, if an edit returned it. It grows with each of them, whichever program makes it.
    public internal(set) var number = 0

    // MARK: For display

    /// The step as an imperative: `Delete “Low Tide”`.
    public var title: String {
        switch kind {
        case .add: "Add \(subject)"
        case .delete: "Delete \(subject)"
        case .edit: isOfCovers ? "Change the cover of \(subject)" : "Edit \(subject)"
        }
    }

    /// Whether nothing but addresses and files of covers changes.
    private var isOfCovers: Bool {
        !changes.isEmpty
            && changes.allSatisfy { change in
                guard var former = change.former else { return false }
                former.coverURL = change.album.coverURL
                former.alternateCoverURLs = change.album.alternateCoverURLs
                former.coverFilePath = change.album.coverFilePath
                return former == change.album
            }
    }

    /// How a step was taken.
    package enum Origin: Sendable {
        case new, undo, redo
    }

    /// The step in the past tense: `Deleted “Low Tide”`.
    public var message: String { message(.new) }

    /// The step in the past tense. An undo that adds a deleted album reads `Restored “Low Tide”`.
    package func message(_ origin: Origin) -> String {
        if changes.isEmpty {
            return switch kind {
            case .add: "Nothing changed: it is in the library already"
            case .delete: "Nothing changed: it was deleted already"
            case .edit: "Nothing changed: it is like that already"
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
        guard changes.count == 1, let album = changes.first?.album else { return "\(changes.count) albums" }
        return "“\(album.title.isEmpty ? "untitled" : album.title.inMessage)”"
    }

    // MARK: Applying

    /// The step that reverts this one.
    package var inverse: AlbumEdit {
        switch kind {
        case .add: AlbumEdit(kind: .delete, changes: changes)
        case .delete: AlbumEdit(kind: .add, changes: changes)
        case .edit:
            AlbumEdit(
                kind: .edit,
                changes: changes.map { change in
                    Change(
                        album: change.former ?? change.album, index: change.index, precedingID: change.precedingID,
                        former: change.album)
                })
        }
    }

    /// This step and a later one as one step: both edit albums. What others have edited in between is in neither.
    func joined(with later: AlbumEdit) -> AlbumEdit {
        var (changes, indices) = (changes, [Album.ID: Int]())
        for (index, change) in changes.enumerated() { indices[change.album.id] = index }
        for var change in later.changes {
            guard let index = indices[change.album.id] else {
                changes.append(change)
                continue
            }
            change.former = change.former?.edited(from: changes[index].album, to: changes[index].former ?? change.album)
            changes[index] = change
        }
        return AlbumEdit(kind: kind, changes: changes)
    }

    /// The part of the step that still changes `albums`. It deletes albums in the state they are in now.
    func effective(in albums: [Album]) -> AlbumEdit {
        let indices = Dictionary(albums.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        switch kind {
        case .add: return AlbumEdit(kind: .add, changes: changes.filter { indices[$0.album.id] == nil })
        case .delete: return albums.deleting(changes.compactMap { indices[$0.album.id] })
        case .edit:
            let needed = changes.compactMap { change -> Change? in
                guard let index = indices[change.album.id] else { return nil }
                let edited = albums[index].edited(from: change.former, to: change.album)
                return edited == albums[index] ? nil : albums.change(to: edited, at: index, former: albums[index])
            }
            return AlbumEdit(kind: .edit, changes: needed)
        }
    }

    /// The same step with the albums as `edit` found them, so that its inverse restores those.
    func withAlbums(of edit: AlbumEdit) -> AlbumEdit {
        let found = Dictionary(edit.changes.map { ($0.album.id, $0) }, uniquingKeysWith: { first, _ in first })
        return AlbumEdit(kind: kind, changes: changes.map { found[$0.album.id] ?? $0 })
    }

    /// Applies the step. It finds albums by their ids, so other programs may have edited the library meanwhile. Applying it
    /// twice has the effect of applying it once.
    func apply(to albums: inout [Album]) {
        switch kind {
        case .delete:
            let ids = Set(changes.map(\.album.id))
            albums.removeAll { ids.contains($0.id) }
        case .add:
            let ids = Set(albums.map(\.id))
            for change in changes where !ids.contains(change.album.id) {
                albums.insert(change.album, at: Self.insertionIndex(of: change, in: albums))
            }
        case .edit:
            let indices = Dictionary(albums.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
            for change in changes {
                guard let index = indices[change.album.id] else { continue }
                albums[index] = albums[index].edited(from: change.former, to: change.album)
            }
        }
    }

    /// After the album that preceded it; if that is gone, at its old index or at the end.
    private static func insertionIndex(of change: Change, in albums: [Album]) -> Int {
        guard let precedingID = change.precedingID else { return 0 }
        let expected = change.index - 1
        if albums.indices.contains(expected), albums[expected].id == precedingID { return change.index }
        if let index = albums.firstIndex(where: { $0.id == precedingID }) { return index + 1 }
        return min(change.index, albums.count)
    }
}

extension AlbumEdit.Change {
    private enum CodingKeys: String, CodingKey {
        case album, index, precedingID, former
    }

    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func album(_ text: String, _ key: CodingKeys) throws -> Album {
            if let album = Album(libraryJSON: text) { return album }
            throw DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: "no album: \(text)")
        }
        self.album = try album(try fields.decode(String.self, forKey: .album), .album)
        index = max(0, try fields.decode(Int.self, forKey: .index))
        precedingID = try fields.decodeIfPresent(String.self, forKey: .precedingID)
        former = try fields.decodeIfPresent(String.self, forKey: .former).map { try album($0, .former) }
    }

    /// Encodes albums as JSON text in a string: encoders would round their numbers and reorder their fields.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(album.jsonObject, forKey: .album)
        try fields.encode(index, forKey: .index)
        try fields.encodeIfPresent(precedingID, forKey: .precedingID)
        try fields.encodeIfPresent(former?.jsonObject, forKey: .former)
    }
}

extension [Album] {
    /// The step that inserts `albums` at `index`.
    func adding(_ albums: [Album], at index: Int) -> AlbumEdit {
        var precedingID = index > 0 ? self[index - 1].id : nil
        let changes = albums.enumerated().map { offset, album in
            defer { precedingID = album.id }
            return AlbumEdit.Change(album: album, index: index + offset, precedingID: precedingID)
        }
        return AlbumEdit(kind: .add, changes: changes)
    }

    /// The step that deletes the albums at `indices`.
    func deleting(_ indices: [Int]) -> AlbumEdit {
        AlbumEdit(kind: .delete, changes: indices.sorted().map { change(to: self[$0], at: $0) })
    }

    fileprivate func change(to album: Album, at index: Int, former: Album? = nil) -> AlbumEdit.Change {
        .init(album: album, index: index, precedingID: index > 0 ? self[index - 1].id : nil, former: former)
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
        if former.coverURL != new.coverURL { album.coverURL = new.coverURL }
        if otherFields == former.otherFields {
            album.otherFields = new.otherFields  // in their order
        } else {
            for name in Set((former.otherFields + new.otherFields).map(\.name)) {
                let value = new.otherFields[name]
                if former.otherFields[name] != value { album.otherFields[name] = value }
            }
        }
        album.id = id  // A derived id would follow from the new texts.
        return album
    }
}
