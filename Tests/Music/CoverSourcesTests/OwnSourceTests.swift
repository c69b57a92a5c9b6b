@testable import CoverSources
import Foundation
import Testing

@Suite struct OwnSourceTests {
    private static let album = AlbumQuery(
        artist: "AC/DC", title: "Who Made Who? #1 & 100%", year: 1986, releaseID: Answers.release)
    private let clock = TestClock()

    private static func source(_ pattern: String, base: String? = nil) throws -> CoverSource {
        let own = try OwnSource(name: "home", pattern: pattern)
        let source = CoverSource.table([own.name], bases: base.map { [own.name: $0] } ?? [:], own: [own]).first
        return try #require(source)
    }

    // MARK: The pattern

    @Test(arguments: [
        (
            "https://media.lan/art?a={artist}&t={album}",
            "https://media.lan/art?a=AC%2FDC&t=Who%20Made%20Who%3F%20%231%20%26%20100%25"
        ),
        ("HTTP://[::1]:8080/{mbid}.jpg", "http://[::1]:8080/\(Answers.release).jpg"),
        ("https://müller.lan/a=%2C;b/{album}", "https://müller.lan/a=%2C;b/Who%20Made%20Who%3F%20%231%20%26%20100%25"),
        (
            "https://media.lan?q={artist}={album}",
            "https://media.lan?q=AC%2FDC=Who%20Made%20Who%3F%20%231%20%26%20100%25"
        ),
    ])
    func `the fields of a pattern are encoded, and the rest stays as it is`(_ pattern: String, _ url: String) throws {
        let candidate = try #require(try Self.source(pattern).known(Self.album).first)
        #expect(candidate.pictures == [url])
    }

    @Test(arguments: [
        "media.lan/{album}", "ftp://media.lan/{album}", "file:///{album}", "", "https:///{album}",
        "https://{artist}.lan/{album}",
        "https://me:hush@media.lan/{album}", "https://media.lan:99999/{album}", "https://media.lan/cover.jpg",
        "https://media.lan/{artist}", "https://media.lan/{album", "https://media.lan/album}{album}",
        "https://media.lan/{title}/{album}", "https://media.lan/{}/{album}", "https://media.lan/{{album}}",
        "https://media.lan/a b/{album}", "https://media.lan/\t{album}", "https://media.lan/{album}#albums/0",
        "https://media.lan/{album}#/~2", "https://media.lan/{album}#/%FF", "https://media.lan/#/{album}",
    ])
    func `a pattern that can't be meant is refused, and its password is not repeated`(_ pattern: String) {
        let problem = #expect(throws: OwnSource.Problem.self) { try OwnSource(name: "home", pattern: pattern) }
        #expect(problem.map { "\($0)".contains("hush") } == false)
    }

    @Test(arguments: [
        ("", "https://a/{album}", "before “=”"), ("my home", "https://a/{album}", "“my home”"),
        ("Deezer", "https://a/{album}", "“Deezer” is a known service"),
        ("tags", "https://a/{album}", "“tags” means something else"), ("home", "", "after “=”"),
        ("home", "a/{album}", "https:// or http://"), ("home", "https:///{album}", "no host"),
        ("home", "https://a/{artst}/{album}", "“{artst}” is no field"),
        ("home", "https://a/{album", "“{album” is no field"),
        ("home", "https://a/cover", "the same for all albums;"),
        ("home", "https://a/{artist}", "all albums of an artist"),
        ("home", "https://a/{album}#cover", "“#cover” is no JSON Pointer"),
        ("home", "https://a/b c/{album}", "write it as %20"), ("home", "https://a/{album}#/b c", "write it as %20"),
        ("home", "https://me:hush@a/{album}", "no user name and no password"),
        ("home", "https://me:hush@/{album}", "no user name and no password"),
    ])
    func `a source that can't be meant is told what is wrong`(_ name: String, _ pattern: String, _ words: String) {
        let problem = #expect(throws: OwnSource.Problem.self) {
            try OwnSource(name: name, pattern: pattern, reserved: ["tags"])
        }
        #expect(problem.map { "\($0)".contains(words) && !"\($0)".contains("hush") } == true, "\(problem as Any)")
    }

    @Test(arguments: ["", "deezer", "Deezer", "tags", "a b", "a=b", "häuser", "a/b", String(repeating: "a", count: 33)])
    func `a name is that of no service, and has letters and digits`(_ name: String) {
        #expect(throws: OwnSource.Problem.self) {
            try OwnSource(name: name, pattern: "https://media.lan/{album}", reserved: ["tags"])
        }
    }

    @Test(arguments: [
        ("{mbid}", AlbumQuery(artist: "A", title: "B"), "{mbid}"),
        ("{artist}/{album}", AlbumQuery(artist: "", title: "B"), "{artist}"),
        ("{artist}/{album}", AlbumQuery(artist: "A", title: " "), "{album}"),
        ("{artist}/{album}", AlbumQuery(artist: "A", title: ".."), "{album}"),
        ("{artist}/{album}", AlbumQuery(artist: ".", title: "A"), "{artist}"),
    ])
    func `a source is not asked without what its URL needs`(_ fields: String, _ album: AlbumQuery, _ lack: String)
        async throws
    {
        let service = TestService(clock) { _, _ in .json("") }
        let findings = try await queue("https://media.lan/\(fields)", service).find(album)
        #expect(findings.candidates.isEmpty && service.urls.isEmpty)
        #expect(findings.answers.map(\.kind) == [.notAsked])
        #expect(findings.answers.first?.detail.contains(lack) == true)
    }

    @Test func `another address takes the place of scheme and host`() throws {
        let source = try Self.source("https://media.lan/art/{album}", base: "http://127.0.0.1:8080/proxy/")
        #expect(
            source.known(AlbumQuery(artist: "A", title: "B")).first?.pictures == ["http://127.0.0.1:8080/proxy/art/B"])
    }

    // MARK: The pointer

    private static let document =
        #"{"albums": [{"a/b": {"m~n": "x"}, "": "y", "é": "z", "n": null, "7": 7}], "0": {"1": "w"}}"#

    @Test(arguments: [
        ("/albums/0/a~1b/m~0n", "x"), ("/albums/0/", "y"), ("/albums/0/%C3%A9", "z"), ("/0/1", "w"),
        ("/albums/0/n", nil),
        ("/albums/1/a", nil), ("/albums/00/", nil), ("/albums/-", nil), ("/albums/0/a~1b/q", nil),
        ("/albums/99999999999999999999", nil), ("/0/1/2", nil), ("/albums/x", nil),
    ])
    func `a pointer finds a text, or nothing`(_ fragment: String, _ text: String?) throws {
        let pointer = try #require(JSONPointer(fragment: fragment))
        #expect(try pointer.text(in: Data(Self.document.utf8)) == text)
    }

    @Test func `an empty pointer is the document, and what is no text is an error`() throws {
        #expect(try JSONPointer(fragment: "")?.text(in: Data(#""x""#.utf8)) == "x")
        for pointer in ["", "/albums", "/albums/0/7"] {
            #expect(throws: DecodingError.self) {
                try JSONPointer(fragment: pointer)?.text(in: Data(Self.document.utf8))
            }
        }
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: DecodingError.self) { try JSONPointer(fragment: "/0")?.text(in: Data(deep.utf8)) }
    }

    // MARK: Answers

    private func queue(
        _ pattern: String, _ service: TestService, memory: SourceMemory? = nil
    ) throws -> SourceQueue {
        SourceQueue(
            sources: [try Self.source(pattern)], userAgent: "Sleeve", memory: memory, clock: clock.source,
            transport: service.transport)
    }

    private static let wanted = AlbumQuery(artist: "A", title: "B")

    @Test func `a cover of one's own service is certain, and says why, without a request`() async throws {
        let service = TestService(clock) { _, _ in .json("") }
        let found = try await queue("https://media.lan/{artist}/{album}", service).find(Self.wanted)
        #expect(found.certain?.pictures == ["https://media.lan/A/B"] && service.urls.isEmpty)
        #expect(found.certain?.match.reason == "your source home has it for this artist and album: certain")
    }

    @Test func `of two albums of one name, it is not known whose cover it is`() async throws {
        let service = TestService(clock) { _, _ in .json("") }
        var album = Self.wanted
        album.hasNamesake = true
        let found = try await queue("https://media.lan/{artist}/{album}", service).find(album)
        #expect(found.candidates.map(\.certainty) == [.doubtful])
    }

    @Test(arguments: [
        (#"{"cover": "https://other.lan/1.jpg"}"#, "https://other.lan/1.jpg"),
        (#"{"cover": "/c/1.jpg"}"#, "https://media.lan/c/1.jpg"),
        (#"{"cover": "1.jpg?w=9"}"#, "https://media.lan/find/1.jpg?w=9"),
        (#"{"cover": "//cdn.lan/1.jpg"}"#, "https://cdn.lan/1.jpg"),
    ])
    func `the URL in an answer is relative to the answer`(_ answer: String, _ url: String) async throws {
        let service = TestService(clock) { _, _ in .json(answer) }
        let queue = try queue("https://media.lan/find/album?q={artist}%20{album}#/cover", service)
        #expect(try await queue.find(Self.wanted).certain?.pictures == [url])
        #expect(service.urls == ["https://media.lan/find/album?q=A%20B"])
    }

    @Test func `the URL in an answer is relative to where a redirect led`() async throws {
        let service = TestService(clock) { _, _ in
            SourceResponse(status: 200, body: Array(#""1.jpg""#.utf8), url: "https://other.lan/x/")
        }
        let found = try await queue("https://media.lan/{album}#", service).find(Self.wanted)
        #expect(found.certain?.pictures == ["https://other.lan/x/1.jpg"])
    }

    @Test(arguments: [
        (200, #"{"cover": null}"#, SourceAnswer.Kind.notFound), (200, #"{"cover": ""}"#, .notFound),
        (200, "{}", .notFound), (404, "", .notFound),
        (410, "", .notFound), (200, "<html>", .failed), (200, "", .failed), (200, #"{"cover": 1}"#, .failed),
        (200, #"{"cover": "file:///etc/passwd"}"#, .failed), (200, #"{"cover": "data:image/png,x"}"#, .failed),
        (500, "", .failed), (403, "", .failed), (503, "", .throttled), (401, "", .failed),
        (200, #"{"cover": "/2a96cbd8b46e442fc41c2b86b821562f.png"}"#, .notFound),
    ])
    func `an answer without a cover says whether there is none`(
        _ status: Int, _ body: String, _ kind: SourceAnswer.Kind
    )
        async throws
    {
        let service = TestService(clock) { _, _ in .json(body, status: status) }
        let found = try await queue("https://media.lan/{album}#/cover", service).find(Self.wanted)
        #expect(found.candidates.isEmpty && found.answers.map(\.kind) == [kind])
    }

    @Test func `an answer is remembered, and a picture that was refused is not proposed again`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { _, _ in .json(#"{"cover": "/1.jpg"}"#) }
            for pattern in ["https://media.lan/{artist}/{album}#/cover", "https://media.lan/{artist}/{album}"] {
                clock.advance(.seconds(1))
                let queue = try queue(pattern, service, memory: memory)
                let cover = try #require(try await queue.find(Self.wanted).certain)
                #expect(try await memory.record(of: Self.wanted.key).candidates.map(\.source.rawValue) == ["home"])
                try await memory.refuse([cover], of: Self.wanted.key)
                #expect(try await queue.find(Self.wanted).candidates.isEmpty)
                #expect(try await memory.record(of: Self.wanted.key).rejected.map(\.match) == [.refused])
                try await memory.allow([cover], of: Self.wanted.key)
                #expect(try await queue.find(Self.wanted).certain?.pictures == cover.pictures)
            }
            #expect(service.urls.count == 1)
        }
    }

    @Test func `what an own service had counts only while it is named`() async throws {
        try await withFolder { folder in
            let memory = try SourceMemory(path: folder + "/m.sqlite3") { _ in }
            let service = TestService(clock) { _, _ in .json("") }
            let named = try queue("https://media.lan/{artist}/{album}", service, memory: memory)
            let url = try #require(try await named.find(Self.wanted).certain?.pictures.first)
            #expect(await named.cover(at: url, for: Self.wanted)?.match?.certainty == .certain)
            let others = SourceQueue(
                sources: CoverSource.table(), userAgent: "Sleeve", memory: memory, clock: clock.source,
                transport: service.transport)
            #expect(await others.cover(at: url, for: Self.wanted) == nil)
        }
    }
}
