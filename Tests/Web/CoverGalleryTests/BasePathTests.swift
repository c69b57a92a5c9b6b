import CoverLibrary
import OriginServer
import Testing
import Wire

@testable import CoverGallery

@Suite(.timeLimit(.minutes(10))) struct BasePathTests {
    @Test(arguments: [
        ("/", "/"), ("", "/"), ("sleeve", "/sleeve/"), ("/sleeve", "/sleeve/"), ("/sleeve/", "/sleeve/"),
        ("/music/my-covers_2.0~/", "/music/my-covers_2.0~/"),
    ])
    func `a base path begins and ends with a slash`(text: String, path: String) {
        #expect(BasePath(text)?.text == path)
    }

    @Test(arguments: [
        "///", "/a//b/", "/../", "/a/./b", "/a b/", "/a%2Fb/", "/{a}/", "/*/", "/:a/", "/a?b", "/a#b", "/ä/", "/a;b/",
        "http://a/", "/\r\nX: y/", String(repeating: "a", count: 300),
    ])
    func `a path that is not plain is refused`(text: String) {
        #expect(BasePath(text) == nil)
    }

    @Test func `everything is below the base path, and nothing outside of it`() async throws {
        try await withGallery {
            $0.base = BasePath("/music/sleeve")!
        } _: { stage in
            #expect(stage.gallery.url == "http://127.0.0.1:\(stage.port)/music/sleeve/")
            let digest = try await stage.cover(at: stage.origin.coverURL(0)).digest
            for path in [
                "", "app.js", "style.css", "service-worker.js", "manifest.webmanifest", "api/library",
                "covers/\(digest)",
            ] {
                #expect(try await stage.ask("GET", "/music/sleeve/\(path)").status == 200, "\(path)")
                #expect(try await stage.ask("GET", "/\(path)").status == 404, "\(path)")
            }
            let lost = try await stage.ask("GET", "/").text
            #expect(lost.contains("/music/sleeve/"), "\(lost)")
        }
    }

    @Test(arguments: ["/sleeve", "/sleeve//", "//sleeve/"])
    func `another spelling of the base path leads to it, as the page's addresses are relative`(path: String)
        async throws
    {
        try await withGallery {
            $0.base = BasePath("/sleeve/")!
        } _: { stage in
            let reply = try await stage.ask("GET", path)
            #expect(reply.status == 308 && reply.fields["location"] == "/sleeve/", "\(reply.status)")
        }
    }

    @Test func `cookies are for the base path alone, with and without its slash`() async throws {
        let token = "0123456789abcdef0123"
        try await withGallery {
            $0.base = BasePath("/sleeve/")!
            $0.token = token
        } _: { stage in
            #expect(stage.gallery.url.hasSuffix("/sleeve/?token=\(token)"))
            for path in ["/sleeve/", "/sleeve"] {
                let welcome = try await stage.ask("GET", "\(path)?token=\(token)")
                #expect(welcome.status == 303 && welcome.fields["location"] == "/sleeve/")
                #expect(welcome.fields["set-cookie"]?.contains("; Path=/sleeve; ") == true)
            }
            let page = try await stage.ask("GET", "/sleeve/", ["Accept": "text/html"])
            #expect(page.status == 401 && page.text.contains("<form method=\"get\">"))
            let state = try await stage.ask("GET", "/sleeve/api/state", ["Authorization": "Bearer \(token)"])
            #expect(state.fields["set-cookie"]?.contains("; Path=/sleeve; ") == true)
        }
    }

    @Test func `no file of the page names an address from the root`() throws {
        for (name, bytes) in PageFiles.contents where !name.hasSuffix(".svg") {
            let text = String(decoding: bytes, as: UTF8.self)
            let found = text.matches(of: /(["'`(])\/(api|covers|[a-z\-]+\.(js|css|svg|webmanifest))\b/).map {
                String($0.0)
            }
            #expect(found.isEmpty, "\(name)")
        }
    }
}
