import Testing

@testable import AlbumLibrary

@Suite struct AlbumEditTests {
    private func albums(_ ids: String) -> [Album] { ids.map { Album(id: String($0), title: String($0)) } }
    private func ids(_ albums: [Album]) -> String { albums.map(\.id).joined() }

    @Test func `a step and its inverse leave the albums unchanged`() {
        var library = albums("abcdef")
        let edit = library.deleting([1, 2, 5])
        edit.apply(to: &library)
        #expect(ids(library) == "ade")
        edit.inverse.apply(to: &library)
        #expect(ids(library) == "abcdef")
    }

    @Test func `applying a step twice has the effect of applying it once`() {
        var library = albums("ab")
        let edit = library.adding(albums("xy"), at: 1)
        for _ in 0..<2 { edit.apply(to: &library) }
        #expect(ids(library) == "axyb")
        for _ in 0..<2 { edit.inverse.apply(to: &library) }
        #expect(ids(library) == "ab")
    }

    @Test(arguments: [("zzabd", "zzabcd"), ("ad", "adc"), ("adef", "adcef"), ("", "c"), ("bqr", "bcqr")])
    func `an album comes back after the one it stood behind, else where it stood, else at the end`(
        meanwhile: String, expected: String
    ) {
        let edit = albums("abcd").deleting([2])
        var library = albums(meanwhile)
        edit.inverse.apply(to: &library)
        #expect(ids(library) == expected)
    }

    @Test func `a remote library is not told the path of a cover file, and nothing of an edit of it alone`() {
        let former = Album(id: "1", title: "A")
        var (moved, renamed) = (former, Album(id: "1", title: "B"))
        (moved.coverFile, renamed.coverFile) = ("/music/A/cover.jpg", "/music/B/cover.jpg")
        func bodies(_ kind: AlbumEdit.Kind, _ album: Album, _ former: Album?) -> [String] {
            let change = AlbumEdit.Change(album: album, index: 0, precedingID: nil, former: former)
            return RemoteMessage.messages(for: AlbumEdit(kind: kind, changes: [change]), to: "https://a").map(\.body)
        }
        #expect(bodies(.edit, moved, former).isEmpty)
        for bodies in [bodies(.edit, renamed, moved), bodies(.add, renamed, nil)] {
            #expect(bodies.count == 1 && bodies[0].contains("B") && !bodies[0].contains("/music"), "\(bodies)")
        }
    }

    @Test func `an album whose id follows from its texts keeps it when they are edited`() {
        let former = Album(title: "A", artist: "B")
        let change = AlbumEdit.Change(
            album: Album(id: former.id, title: "C", artist: "B"), index: 0, precedingID: nil, former: former)
        var library = [former]
        AlbumEdit(kind: .edit, changes: [change]).apply(to: &library)
        #expect(library[0].title == "C" && library[0].id == former.id)
    }

    @Test func `the first album comes back to the front`() {
        let edit = albums("abc").deleting([0])
        var library = albums("xbc")
        edit.inverse.apply(to: &library)
        #expect(ids(library) == "axbc")
    }
}

@Suite struct LibraryMementoTests {
    private func albums(_ ids: String) -> [Album] { ids.map { Album(id: String($0), title: String($0)) } }

    private func memento(_ id: String, _ position: Double, in ids: String) -> LibraryMemento {
        let index = ids.firstIndex(of: Character(id)).map { ids.distance(from: ids.startIndex, to: $0) } ?? 0
        return LibraryMemento(album: id, index: index, position: position).addingNeighbours(in: albums(ids))
    }

    @Test func `the album is found wherever it is now, and the scroller is as far from it as it was`() {
        let restored = memento("c", 2.25, in: "abcde").restored(in: albums("xyabcde"))
        #expect(restored.album == "c" && restored.index == 4 && restored.position == 4.25)
    }

    @Test(arguments: [("abde", "d"), ("abe", "b"), ("ae", "e"), ("a", "a")])
    func `when the album has gone, the nearest of its neighbours is chosen, the one after it before the one before`(
        now: String, expected: String
    ) {
        #expect(memento("c", 2, in: "abcde").restored(in: albums(now)).album == expected)
    }

    @Test func `if all neighbours are deleted too, the index counts, clamped to the library`() {
        #expect(memento("c", 2, in: "abcde").restored(in: albums("vwxyz")).album == "x")
        #expect(memento("c", 2, in: "abcde").restored(in: albums("v")).album == "v")
    }

    @Test func `an empty library restores to nothing`() {
        let restored = memento("c", 2, in: "abcde").restored(in: [])
        #expect(restored.album == nil && restored.index == 0 && restored.position == 0)
    }

    @Test func `each client has a separate memento, which the next program reads`() async throws {
        try await withShelf(["A", "B", "C"]) { shelf in
            let library = shelf.store()
            let albums = try await library.all()
            try await library.save(LibraryMemento(album: albums[1].id, index: 1, position: 1), for: "one")
            try await library.save(
                LibraryMemento(album: albums[2].id, index: 2, position: 2, order: "title"), for: "two")
            library.close()
            let next = shelf.store()
            #expect(try await next.memento(of: "one")?.album == albums[1].id)
            #expect(try await next.memento(of: "two")?.order == "title")
            #expect(try await next.memento(of: "three") == nil)
            try await next.delete(at: 1)
            #expect(try await next.memento(of: "one")?.album == albums[2].id)
            next.close()
        }
    }
}
