import OriginServer
import Testing
import Wire

@testable import CoverGallery

@Suite(.timeLimit(.minutes(10))) struct AccessRulesTests {
    @Test func `requests by names that a foreign name server could resolve to this machine are refused`() async throws {
        try await withGallery { stage in
            for (host, status) in [
                ("127.0.0.1:\(stage.port)", 200), ("localhost", 200), ("[::1]:\(stage.port)", 200),
                ("evil.example", 421), ("127.0.0.1.evil.example:80", 421), ("[evil]", 421),
            ] {
                let reply = try await stage.ask("GET", "/api/state", ["Host": host])
                #expect(reply.status == status, "\(host)")
            }
        }
    }

    @Test func `a name given with --server-name is allowed`() async throws {
        try await withGallery {
            $0.names = ["Music.Example"]
        } _: { stage in
            let status = try await stage.ask("GET", "/", ["Host": "music.example"]).status
            #expect(status == 200)
        }
    }

    @Test func `pages of other sites can change nothing and read nothing`() async throws {
        try await withGallery { stage in
            let before = try await stage.ids
            for fields in [
                ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:1"],
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Content-Type": "text/plain"],
                ["Content-Type": "application/x-www-form-urlencoded"],
            ] {
                for path in ["/api/undo", "/api/albums"] {
                    let reply = try await stage.ask("POST", path, fields, json: "{\"album\": {\"title\": \"X\"}}")
                    #expect([403, 415].contains(reply.status), "\(path) \(fields): \(reply.status)")
                }
            }
            #expect(try await stage.ids == before)
            let read = try await stage.ask("GET", "/api/library", ["Sec-Fetch-Site": "cross-site"])
            #expect(read.status == 403)
            let visit = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
            #expect(try await stage.ask("GET", "/", visit).status == 200)
            let own = ["Origin": "http://\(stage.host)", "Sec-Fetch-Site": "same-origin"]
            #expect(
                try await stage.ask("POST", "/api/albums", own, json: "{\"album\": {\"title\": \"X\"}}").status == 201)
        }
    }

    @Test(arguments: [nil, "0123456789abcdef0123"])
    func `a link of another site leads to the page, with the cookie, and to nothing below it`(_ token: String?)
        async throws
    {
        try await withGallery {
            $0.token = token
        } _: { stage in
            var link = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"]
            if let token {
                let welcome = try await stage.ask("GET", "/?token=\(token)", link)
                #expect(welcome.status == 303, "the printed address, sent in a message")
                link["Cookie"] = welcome.fields["set-cookie"].map { String($0.prefix { $0 != ";" }) }
            }
            #expect(try await stage.ask("GET", "/", link).status == 200)
            let paths = [
                "/cover?url=https://covers.example/1.jpg", "/covers/\(String(repeating: "0", count: 64))",
                "/api/library",
                "/api/state", "/api/events?page=x", "/api/albums/x", "/api/sources/x", "/api/doubtful/x",
                "/api/filters/doubtful", "/app.js", "/nothing",
            ]
            for path in paths {
                for site in ["cross-site", "same-site"] {
                    link["Sec-Fetch-Site"] = site
                    #expect(try await stage.ask("GET", path, link).status == 403, "\(path)")
                }
            }
            link["Sec-Fetch-Site"] = "none"
            #expect(try await stage.ask("GET", "/api/library", link).status == 200, "typed by a person")
        }
    }

    @Test func `every response has the headers that forbid framing, sniffing and foreign scripts`() async throws {
        try await withGallery { stage in
            for path in ["/", "/app.js", "/api/library", "/nothing", "/api/events?page=x"] {
                let fields = try await stage.ask("GET", path).fields
                let policy = fields["content-security-policy"] ?? ""
                #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "\(path)")
                #expect(policy.contains("frame-ancestors 'none'") && policy.contains("require-trusted-types-for"))
                #expect(fields["x-content-type-options"] == "nosniff")
                #expect(fields["cross-origin-resource-policy"] == "same-origin")
                #expect(fields["access-control-allow-origin"] == nil)
            }
        }
    }

    @Test func `with a token every request needs it; the printed address exchanges it for a cookie`() async throws {
        let token = "0123456789abcdef0123"
        try await withGallery {
            $0.token = token
        } _: { stage in
            #expect(stage.gallery.url.hasSuffix("/?token=\(token)"))
            for path in ["/", "/app.js", "/api/library", "/covers/x", "/?token=wrong"] {
                #expect(try await stage.ask("GET", path).status == 401, "\(path)")
            }
            let welcome = try await stage.ask("GET", "/?token=\(token)")
            #expect(welcome.status == 303 && welcome.fields["location"] == "/")
            let cookie = welcome.fields["set-cookie"] ?? ""
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"))
            let pair = String(cookie.prefix { $0 != ";" })
            let fields = [["Cookie": pair], ["Authorization": "Bearer \(token)"], ["Authorization": "Bearer x"]]
            var statuses: [Int] = []
            for fields in fields { statuses.append(try await stage.ask("GET", "/api/library", fields).status) }
            #expect(statuses == [200, 200, 401])
            // In the address, it counts for a visit alone.
            for (method, path) in [("POST", "/api/undo"), ("GET", "/api/library"), ("DELETE", "/api/albums/x")] {
                #expect(try await stage.ask(method, "\(path)?token=\(token)").status == 401, "\(path)")
            }
            // A bookmark of an earlier token, in a browser that knows this one.
            #expect(try await stage.ask("GET", "/?token=wrong", ["Cookie": pair]).status == 303)
        }
    }

    @Test func `without the token a person gets a page that says what to do, and a program gets JSON`() async throws {
        try await withGallery {
            $0.token = "0123456789abcdef0123"
        } _: { stage in
            let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
            for path in ["/", "/?token=wrong", "/app.js"] {
                let page = try await stage.ask("GET", path, ["Accept": browser])
                #expect(page.status == 401 && page.fields["content-type"] == "text/html; charset=utf-8")
                #expect(page.text.contains("sleeve serve") && page.text.contains("<form method=\"get\">"))
                #expect(!page.text.contains("0123456789abcdef0123"))
                #expect(page.fields["www-authenticate"]?.hasPrefix("Bearer") == true)
                // Its policy allows its own style.
                #expect(page.text.contains("<style>"))
                #expect(page.fields["content-security-policy"]?.contains("style-src 'unsafe-inline'") == true)
                #expect(page.text.contains("not this gallery’s") == path.contains("wrong"), "\(path)")
                for accept in ["*/*", "application/json", "text/html;q=0, */*", ""] {
                    let reply = try await stage.ask("GET", path, ["Accept": accept])
                    #expect(reply.status == 401 && reply.fields["content-type"] == "application/json", "\(accept)")
                    #expect(reply.text.hasPrefix("{\"error\":"))
                }
            }
        }
    }

    @Test func `the token's cookie has a name of its own, as a browser sends it to every port`() async throws {
        var names: Set<Substring> = []
        for token in ["0123456789abcdef0123", "0123456789abcdef4567"] {
            try await withGallery {
                $0.token = token
            } _: { stage in
                let welcome = try await stage.ask("GET", "/?token=\(token)")
                names.insert(welcome.fields["set-cookie"]?.prefix { $0 != "=" } ?? "")
            }
        }
        #expect(names.count == 2)
    }

    @Test func `a page of another site can show a cover if it knows the token, and nothing else`() async throws {
        let token = "0123456789abcdef0123"
        try await withGallery {
            $0.token = token
            $0.allowsPrivateAddresses = true
        } _: { stage in
            let url = stage.origin.coverURL(1)
            let image = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"]
            let shown = try await stage.ask("GET", "/cover?url=\(url)&token=\(token)", image)
            #expect(shown.status == 200 && shown.fields["cross-origin-resource-policy"] == "cross-origin")
            for path in ["/cover?url=\(url)", "/cover?url=\(url)&token=wrong", "/api/library"] {
                #expect(try await stage.ask("GET", path, image).status == 401, "\(path)")
            }
            #expect(try await stage.ask("GET", "/api/library?token=\(token)", image).status == 401)
        }
    }

    @Test func `a gallery that other machines can connect to needs a token of 16 characters`() async throws {
        for token in [nil, "short"] {
            await #expect(throws: GalleryError.self) {
                try await withGallery {
                    $0.host = "0.0.0.0"
                    $0.token = token
                } _: { _ in
                }
            }
        }
    }
}
