import CoverSizes
import Foundation
import MusicFiles
import Platform
import Synchronization
import Testing

@testable import MusicFolder

@Suite struct AuditTests {
    /// A place with a cover file and a picture in its tags, as far as they are given.
    private func place(
        _ folder: String, artist: String = "The Harbour Lights", title: String = "Low Tide", covers: [String] = [],
        embedded: EmbeddedPicture? = nil, embeddedTracks: Int? = nil, tracks: Int = 9
    ) -> AuditedPlace {
        var place = AlbumPlace()
        (place.folders, place.coverFolders, place.tracks) = ([BytePath(folder)], [BytePath(folder)], tracks)
        place.cover = covers.first.map { CoverFile(path: BytePath($0)) }
        (place.embedded, place.embeddedTracks) = (embedded, embeddedTracks ?? (embedded == nil ? 0 : tracks))
        place.covers = covers.map { CoverFile(path: BytePath($0)) }
        return AuditedPlace(artist: artist, title: title, place: place)
    }

    private func embedded(_ width: Int?, _ height: Int?, _ digest: String, type: String? = "image/jpeg")
        -> EmbeddedPicture
    {
        EmbeddedPicture(
            type: EmbeddedPicture.frontCover, mediaType: type, width: width, height: height, byteCount: 9,
            digest: Self.digest(digest))
    }

    private func facts(_ width: Int?, _ height: Int?, _ digest: String = "f1", damage: String? = nil) -> CoverFacts {
        var facts = CoverFacts()
        (facts.mediaType, facts.width, facts.height) = ("image/jpeg", width, height)
        (facts.digest, facts.damage) = (Self.digest(digest), damage)
        return facts
    }

    private static func digest(_ name: String) -> Digest { Digest(of: Array(name.utf8)) }

    private func kinds(_ places: [AuditedPlace], _ facts: [String: CoverFacts] = [:], minimum: Int = 500) -> [AuditKind]
    {
        let facts = Dictionary(uniqueKeysWithValues: facts.map { (BytePath($0), $1) })
        return Audit(places, facts: facts, minimum: minimum).findings.map(\.kind)
    }

    // MARK: Kinds

    @Test(
        arguments: [
            (500, 500, []), (499, 500, [.small]), (500, 499, [.small]), (900, 500, []),
            (15, 900, [.placeholder]), (1, 1, [.placeholder]), (nil, nil, []),
        ] as [(Int?, Int?, [AuditKind])])
    func `pixels decide what is small or no cover, of files and of pictures in tags`(
        width: Int?, height: Int?, expected: [AuditKind]
    ) {
        #expect(
            kinds([place("/m/a", covers: ["/m/a/cover.jpg"])], ["/m/a/cover.jpg": facts(width, height)]) == expected)
        #expect(kinds([place("/m/a", embedded: embedded(width, height, "e1"))]) == expected)
    }

    @Test func `an album is without a cover unless it has a file, or a picture in the tags of each track`() {
        #expect(kinds([place("/m/a")]) == [.missing])
        #expect(kinds([place("/m/a", embedded: embedded(600, 600, "e1"), embeddedTracks: 8)]) == [.missing])
        #expect(kinds([place("/m/a", embedded: embedded(600, 600, "e1"))]).isEmpty)
        #expect(kinds([place("/m/a", covers: ["/m/a/cover.jpg"])], ["/m/a/cover.jpg": facts(600, 600)]).isEmpty)
    }

    @Test func `what is damaged is said, of files and of pictures in tags`() {
        let file = place("/m/a", covers: ["/m/a/cover.jpg"], embedded: embedded(600, 600, "e1"))
        #expect(kinds([file], ["/m/a/cover.jpg": facts(600, 600, damage: "is cut off")]) == [.damaged])
        #expect(kinds([place("/m/a", embedded: embedded(nil, nil, "e1", type: nil))]) == [.damaged])
    }

    @Test(arguments: [
        (["A", "B", "C"], 3), (["A", "B", "A"], 0), (["A", "a", "B"], 0), (["A", "B", "Various Artists"], 0),
        (["A", "B", "C", "Various Artists"], 4),
    ])
    func `one picture is repeated if albums of three artists have it`(artists: [String], count: Int) {
        let places = artists.enumerated().map { number, artist in
            place("/m/\(number)", artist: artist, title: "T\(number)", covers: ["/m/\(number)/cover.jpg"])
        }
        let files = Dictionary(
            uniqueKeysWithValues: artists.indices.map { ("/m/\($0)/cover.jpg", facts(600, 600, "same")) })
        #expect(kinds(places, files) == [AuditKind](repeating: .repeated, count: count))
    }

    @Test func `one picture in several sizes is repeated, and other pictures are not`() throws {
        func audit(_ pictures: [UInt64]) throws -> [String] {
            var (places, files, known): ([AuditedPlace], [BytePath: CoverFacts], [Digest: Likeness]) = ([], [:], [:])
            for (number, picture) in pictures.enumerated() {
                let path = "/m/\(number)/cover.jpg"
                places.append(place("/m/\(number)", artist: "Artist \(number)", title: "T\(number)", covers: [path]))
                files[BytePath(path)] = facts(600 + number, 600, "f\(number)")
                known[Self.digest("f\(number)")] = .made(picture, noise: 1, pixelCount: 250_000 + number)
            }
            return Audit(places, facts: files, likenesses: Likenesses(known)).findings.map(\.detail)
        }
        let repeated = try audit([1, 1, 1, 2])
        #expect(repeated == [String](repeating: "is the cover of 3 albums by different artists", count: 3))
        #expect(try audit([1, 1, 2, 3]).isEmpty)
    }

    @Test func `one file of several albums is judged once, and each of them has it repeatedly`() {
        let places = ["A", "B", "C"].map { place("/m", artist: $0, title: $0, covers: ["/m/cover.jpg"]) }
        #expect(kinds(places, ["/m/cover.jpg": facts(100, 100)]) == [.small, .repeated, .repeated, .repeated])
    }

    @Test func `findings are in the order of kinds and paths, and only of the kinds that are wanted`() {
        let places = [place("/m/b", covers: ["/m/b/cover.jpg"]), place("/m/c"), place("/m/a")]
        let facts = [BytePath("/m/b/cover.jpg"): facts(100, 200)]
        func found(_ kinds: Set<AuditKind>) -> [String] {
            Audit(places, facts: facts, kinds: kinds).findings.map { "\($0.kind) \($0.path)" }
        }
        #expect(
            found(Set(AuditKind.allCases)) == [
                "missing /m/a", "missing /m/c", "small /m/b/cover.jpg",
            ])
        #expect(found([.small]) == ["small /m/b/cover.jpg"])
    }

    @Test func `the covers of all discs are judged, and no picture that is named after another album`() {
        // Each disc has its own cover in the folder of an artist.
        let found = Layout(
            "",
            ["/m/A/CD1", "/m/A/CD2", "/m/A/CD3", "/m/B"].reduce(into: [:]) { folders, path in
                let disc = path.hasPrefix("/m/A") ? Int(String(path.last!)) : nil
                folders[path] = tracks(1...3, disc.map { _ in "Low Tide" } ?? "Rust", disc: disc)
            },
            pictures: ["/m/A/CD1/cover.jpg", "/m/A/CD2/low tide.jpg", "/m/B/Low Tide.jpg", "/m/B/Rust.jpg"]
        ).found
        let places = AuditedPlace.all(of: found)
        #expect(
            places.map { $0.covers.map(\.description) } == [
                ["/m/A/CD1/cover.jpg", "/m/A/CD2/low tide.jpg"], ["/m/B/Rust.jpg"],
            ])
        #expect(places.map { $0.lacking.map(\.description) } == [["/m/A/CD3"], []])
    }

    // MARK: Files

    @Test func `a file is no image, cut off, without a size, no file, or whole`() throws {
        let folder = try Folder()
        let jpeg = MusicPicture.jpeg(600, 400).bytes
        let paths = [
            try folder.file("a.jpg", bytes: jpeg), try folder.file("b.jpg", bytes: Array(jpeg.dropLast())),
            try folder.file("c.jpg", bytes: Array("<html><body>".utf8)), try folder.file("d.jpg", bytes: []),
            try folder.file("e.jpg", bytes: Array(jpeg.prefix(14)) + [0xFF, 0xD9]),
            folder.path.appending(Array("f.jpg".utf8)), folder.path,
        ]
        #expect(mkfifo(folder.text + "/g.jpg", 0o600) == 0)
        let facts = (paths + [folder.path.appending(Array("g.jpg".utf8))]).map { CoverFacts(of: $0) }
        #expect(
            facts.map(\.damage) == [
                nil, "is cut off", "is no image but an HTML page", "is no image but an empty body",
                "has no valid size in its header", "cannot be read: No such file or directory",
                "cannot be read: is no regular file", "cannot be read: is no regular file",
            ])
        #expect(facts[0].width == 600 && facts[0].height == 400 && facts[0].digest == Digest(of: jpeg))
    }

    @Test func `many files are read with progress, and none after a cancellation`() async throws {
        let folder = try Folder()
        let paths = try (0..<5).map { try folder.file("\($0).jpg", bytes: MusicPicture.jpeg(number: $0).bytes) }
        let last = Latest()
        let facts = await CoverFacts.read(paths, progress: { last.set($0) }, isCancelled: { false })
        #expect(facts.count == 5 && facts.values.allSatisfy { $0.damage == nil })
        #expect(last.value == 5)
        #expect(await CoverFacts.read(paths, progress: { _ in }, isCancelled: { true }).isEmpty)
    }

    @Test func `the scanned folders are remembered, each with what is below it once`() throws {
        let folder = try Folder()
        let state = try MusicState(of: folder.text + "/albums.json") { _ in }
        #expect(try state.roots().isEmpty)
        try state.add(roots: [BytePath("/m/b"), BytePath("/m"), BytePath("/m-2"), BytePath(bytes: [0x2F, 0xFF])])
        try state.add(roots: [BytePath("/m")])
        #expect(try state.roots() == [BytePath("/m"), BytePath("/m-2"), BytePath(bytes: [0x2F, 0xFF])])
    }
}

/// The latest progress that was reported.
private final class Latest: Sendable {
    private let state = Mutex(0)
    var value: Int { state.withLock { $0 } }
    func set(_ new: Int) { state.withLock { $0 = new } }
}
