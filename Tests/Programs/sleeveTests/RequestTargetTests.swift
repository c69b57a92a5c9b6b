import SleeveStage
import Testing
import Wire

extension CommandTests {
    /// Request targets on their way from the list to the server.
    @Suite struct RequestTargetTests {
        private static let image = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
        private static let answer =
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=0\r\nConnection: close\r\nContent-Length: \(image.utf8.count)\r\n\r\n\(image)"

        private func line(_ head: String?) -> Substring? { head?.prefix { $0 != "\r\n" } }

        @Test func `prefetch and refresh send the target of the list, and two writings of a URL are one cover`()
            async throws
        {
            try await withStage { stage in
                try await withListener(answer: Self.answer) { listener in
                    var requests = listener.requests.makeAsyncIterator()
                    let target = "/%7euser/a%2fb.jpg?s=%3d"
                    let list = try stage.list([listener.url + target, listener.url + "/~user/a%2Fb.jpg?s=%3D"])
                    let first = try await stage.run("prefetch", list, "--json")
                    #expect(first.status == 0 && first.stdout.contains("\"downloaded\":1,"), "\(first)")
                    let sent = await requests.next()
                    #expect(line(sent) == "GET \(target) HTTP/1.1")
                    for _ in 1...2 {
                        #expect(try await stage.run("refresh").status == 0)
                        let sent = await requests.next()
                        #expect(line(sent) == "GET \(target) HTTP/1.1")
                    }
                }
            }
        }

        @Test func `a redirect's target is requested as the server wrote it, in later runs, too`() async throws {
            try await withStage { stage in
                try await withListener(answer: Self.answer) { listener in
                    var requests = listener.requests.makeAsyncIterator()
                    let moved = """
                        HTTP/1.1 301 Moved\r\nCache-Control: max-age=3600\r\nLocation: \(listener.url)/%7e?u=a%2fb\r
                        Connection: close\r\nContent-Length: 0\r\n\r\n
                        """
                    try await withListener(answer: moved) { first in
                        let list = try stage.list([first.url + "/a.jpg"])
                        for arguments in [["prefetch", list], ["refresh"]] {
                            let result = try await SleeveStage.run(
                                arguments, stdin: .nothing, environment: stage.environment)
                            #expect(result.status == 0, "\(result)")
                            // None came if the run failed.
                            if result.status != 0 { return }
                            let sent = await requests.next()
                            #expect(line(sent) == "GET /%7e?u=a%2fb HTTP/1.1")
                        }
                    }
                }
            }
        }

        @Test(arguments: ["a/../b%2fc.jpg?e=%c3%bc", "a.jpg?", "?"])
        func `a proxy gets the whole URL with its target as written`(target: String) async throws {
            try await withStage { stage in
                try await withListener(answer: Self.answer) { listener in
                    let url = "http://covers.example/\(target)"
                    let result = try await stage.shell(
                        "http_proxy=$1 $SLEEVE get '\(url)' -o /dev/null", listener.url)
                    #expect(result.status == 0, "\(result)")
                    let sent = await listener.requests.first { _ in true }
                    #expect(line(sent) == "GET \(url) HTTP/1.1")
                }
            }
        }
    }
}
