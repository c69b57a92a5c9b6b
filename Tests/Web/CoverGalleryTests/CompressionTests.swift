import CZlib
import CoverLibrary
import OriginServer
import Testing
import Wire

@testable import CoverGallery

@Suite(.timeLimit(.minutes(5))) struct CompressionTests {
    private static func albums(_ origin: Origin) -> [Album] {
        (0..<200).map { Album(title: "Title \($0)", coverURL: origin.coverURL($0)) }
    }

    @Test(arguments: [
        ("gzip", true), ("gzip, deflate, br", true), ("br;q=1.0, gzip; q=0.8, *;q=0.1", true), ("*", true),
        ("x-gzip", true),
        ("GZIP", true), ("gzip;q=0", false), ("gzip;q=0.0, *", false), ("identity", false), ("deflate, br", false),
        ("identity, gzip;q=0.5", false), ("", false), ("gzip;q=2", false), ("gzip;q=x", false), ("gzipped", false),
    ])
    func `the library is compressed if the client accepts it, by its weights (RFC 9110 section 12.5.3)`(
        accepted: String, isCompressed: Bool
    ) async throws {
        try await withGallery(albums: Self.albums) { stage in
            let plain = try await stage.ask("GET", "/api/library")
            #expect(plain.fields["content-encoding"] == nil && plain.fields["vary"] == "Accept-Encoding")
            let reply = try await stage.ask("GET", "/api/library", ["Accept-Encoding": accepted])
            #expect(reply.status == 200 && reply.fields["vary"] == "Accept-Encoding")
            #expect(reply.fields["content-encoding"] == (isCompressed ? "gzip" : nil))
            #expect(reply.fields["content-length"] == String(reply.body.count))
            if isCompressed {
                #expect(reply.body.count < plain.body.count / 3)
                #expect(Self.decompressed(reply.body, length: plain.body.count) == plain.body)
            } else {
                #expect(reply.body == plain.body)
            }
        }
    }

    @Test func `the compressed library has another tag, which a 304 confirms`() async throws {
        try await withGallery(albums: Self.albums) { stage in
            let plain = try await stage.ask("GET", "/api/library")
            let compressed = try await stage.ask("GET", "/api/library", ["Accept-Encoding": "gzip"])
            let tag = try #require(compressed.fields["etag"])
            #expect(plain.fields["etag"] != tag)
            let fields = ["Accept-Encoding": "gzip", "If-None-Match": tag]
            #expect(try await stage.ask("GET", "/api/library", fields).status == 304)
            #expect(try await stage.ask("GET", "/api/library", ["If-None-Match": tag]).status == 200)
            let title = #"{"album": {"title": "New"}}"#
            #expect(try await stage.ask("POST", "/api/albums", json: title).status == 201)
            #expect(try await stage.ask("GET", "/api/library", fields).status == 200, "the library has changed")
        }
    }

    @Test func `the page's files are compressed, and a browser keeps those that it names with their version`()
        async throws
    {
        try await withGallery { stage in
            let page = try await stage.ask("GET", "/")
            let script = try #require(page.text.firstMatch(of: /src="(files\/[0-9a-f]{16}\/app\.js)"/)).1
            #expect(page.fields["cache-control"] == "no-cache" && !page.text.contains("VERSION"))
            let plain = try await stage.ask("GET", "/\(script)")
            #expect(plain.fields["cache-control"] == "private, max-age=31536000, immutable")
            let compressed = try await stage.ask("GET", "/\(script)", ["Accept-Encoding": "gzip"])
            #expect(compressed.fields["content-encoding"] == "gzip" && compressed.fields["vary"] == "Accept-Encoding")
            #expect(Self.decompressed(compressed.body, length: plain.body.count) == plain.body)
            let tag = try #require(compressed.fields["etag"])
            let fields = ["Accept-Encoding": "gzip", "If-None-Match": tag]
            #expect(try await stage.ask("GET", "/\(script)", fields).status == 304)
            let rest = try await stage.ask("GET", "/\(String(script).replacing("app.js", with: "tools.js"))").text
            #expect(plain.text.contains("class Wall") && !rest.contains("class Wall"))
            #expect(rest.contains("function setUpEdits"))
            #expect(![plain.text, rest].contains { $0.contains("\nimport ") || $0.contains("\nexport function") })
            // A page that was open while the server became a newer one.
            let other = try await stage.ask("GET", "/files/0000000000000000/app.js")
            #expect(other.body == plain.body && other.fields["cache-control"] == "no-cache")
            #expect(try await stage.ask("GET", "/files/0000000000000000/nothing.js").status == 404)
        }
    }

    @Test func `scripts and style sheets come without the lines that are comments alone`() {
        let text = """
            // A comment.
            const url = "https://x"; // stays

              /* one line */
              /** several
               * lines */
            a /* within */ = b
              * c;
            /* the end
            */
            """
        let rest = "const url = \"https://x\"; // stays\na /* within */ = b\n  * c;\n"
        #expect(String(decoding: PageFiles.withoutComments(Array(text.utf8)), as: UTF8.self) == rest)
    }

    @Test func `a browser that is new loads the first cached covers ahead, and one that was here does not`()
        async throws
    {
        try await withGallery(albums: Self.albums) { stage in
            let covers = { (page: String) in
                page.matches(of: /imagesrcset="covers\/([0-9a-f]{64})\?w=150 150w,/).map(\.1)
            }
            #expect(covers(try await stage.ask("GET", "/").text).isEmpty, "none is cached")
            let cover = try await stage.library.cover(for: CoverRequest(location: stage.origin.coverURL(1)))
            let page = try await stage.ask("GET", "/", ["Accept-Encoding": "gzip"])
            #expect(covers(try await stage.ask("GET", "/").text).map(String.init) == [cover.digest])
            let tag = try #require(page.fields["etag"])
            #expect(try await stage.ask("GET", "/", ["Accept-Encoding": "gzip", "If-None-Match": tag]).status == 304)
            let known = try await stage.ask("GET", "/", ["Cookie": "sleeve-client=1"])
            #expect(covers(known.text).isEmpty && known.fields["etag"] != tag)
        }
    }

    private static func decompressed(_ bytes: [UInt8], length: Int) -> [UInt8]? {
        var stream = z_stream()
        guard inflateInit2_(&stream, MAX_WBITS + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(&stream) }
        var (input, output) = (bytes, [UInt8](repeating: 0, count: length + 1))
        let code = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return inflate(&stream, Z_FINISH)
            }
        }
        return code == Z_STREAM_END ? Array(output.prefix(Int(stream.total_out))) : nil
    }
}
