import Foundation
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

/// The gallery's HTTP/1.1, and HTTP/1.0, which a proxy in front of it may speak.
@Suite(.timeLimit(.minutes(5))) struct GalleryConnectionTests {
    @Test func `an HTTP/1.0 client gets a response that ends with the connection`() async throws {
        try await withGallery { stage in
            let cover = try await stage.cover(at: stage.origin.coverURL(0))
            for path in ["/", "/api/library", "/api/state", "/covers/\(cover.digest)"] {
                let (reply, rest) = try await onThread {
                    let wire = try Wire(port: stage.port)
                    try wire.send("GET \(path) HTTP/1.0\r\nHost: localhost\r\n\r\n")
                    return (try wire.reply(), try wire.drain())
                }
                #expect(reply.head.hasPrefix("HTTP/1.0 200 ") && reply.fields["transfer-encoding"] == nil, "\(path)")
                #expect(reply.fields["connection"] == "close" && rest.ending == .closed)
                if path.hasPrefix("/covers") { #expect(reply.body == Array(cover.data)) }
            }
        }
    }

    @Test func `an HTTP/1.0 client gets events without chunks`() async throws {
        try await withGallery { stage in
            let (head, events) = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send("GET /api/events?page=page-0001 HTTP/1.0\r\nHost: localhost\r\n\r\n")
                let head = try wire.reply(toHead: true)
                return (head, try wire.receive(until: "\n\n"))
            }
            #expect(
                head.status == 200 && head.fields["transfer-encoding"] == nil && head.fields["connection"] == "close")
            #expect(events.split(separator: "\n").allSatisfy { $0.hasPrefix(":") || $0.contains(": ") }, "\(events)")
        }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
        ("POST /api/undo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("GET http://10.1.2.3/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        ("GET /#fragment HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ])
    func `a request that is no HTTP/1.1, or for another server, is refused`(text: String, status: Int) async throws {
        try await withGallery { stage in
            let (reply, rest) = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(text + "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return (try wire.reply(), try wire.drain())
            }
            #expect(reply.status == status && rest.body.isEmpty && rest.ending == .closed)
        }
    }

    @Test func `a body that breaks after its response gets no other response`() async throws {
        try await withGallery { stage in
            let (reply, rest) = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send("POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
                let reply = try wire.reply()
                try wire.send("no chunk\r\n\r\n")
                return (reply, try wire.drain())
            }
            #expect(reply.status == 404 && rest.body.isEmpty && rest.ending == .closed)
            let broken = try await onThread {
                let wire = try Wire(port: stage.port)
                let fields = ["Transfer-Encoding": "chunked", "Content-Type": "application/json"]
                try wire.send(stage.request("POST", "/api/albums", fields) + "no chunk\r\n\r\n")
                return try wire.reply()
            }
            #expect(broken.status == 400)
        }
    }

    /// Whether this process has the file of a cover open.
    private func isOpen(_ cover: Cover) -> Bool {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.contains { descriptor in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return path?.hasSuffix(cover.digest) == true
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func `a browser that stops reading a cover is disconnected, and its file is closed`() async throws {
        try await withGallery {
            $0.clientTimeout = .milliseconds(300)
        } albums: {
            [Album(title: "A", coverURL: $0.coverURL(1) + "?size=20000000")]
        } _: { stage in
            let cover = try await stage.cover(at: stage.origin.coverURL(1) + "?size=20000000")
            let wire = try await onThread {
                let wire = try Wire(port: stage.port, receiveBuffer: 1 << 16)
                try wire.send(stage.request("GET", "/covers/\(cover.digest)"))
                return wire
            }
            try await eventually { isOpen(cover) }
            try await eventually { !isOpen(cover) }
            #expect(try await onThread { try wire.drain().body.count } < cover.data.count)
        }
    }

    @Test func `covers whose clients read slowly stop no other cover, and are sent whole`() async throws {
        try await withGallery { stage in
            let large = try await stage.cover(at: stage.origin.coverURL(1) + "?size=8000000")
            let small = try await stage.cover(at: stage.origin.coverURL(2))
            let slow = try await onThread {
                try (0..<40).map { _ in
                    let wire = try Wire(port: stage.port, receiveBuffer: 1 << 12)
                    try wire.send(stage.request("GET", "/covers/\(large.digest)"))
                    return wire
                }
            }
            let reply = try await stage.ask("GET", "/covers/\(small.digest)")
            #expect(reply.status == 200 && reply.body == Array(small.data))
            let (first, last) = (slow[0], slow[39])
            #expect(try await onThread { try first.reply().body } == Array(large.data))
            #expect(try await onThread { try last.reply().body } == Array(large.data))
        }
    }

    @Test func `a cover that its server forbids to keep is sent as its client takes it, too`() async throws {
        try await withGallery {
            $0.allowsPrivateAddresses = true
        } _: { stage in
            let url = stage.origin.coverURL(1) + "?size=8000000&cache-control=no-store"
            let path = "/cover?url=" + url.replacing("?", with: "%3F").replacing("&", with: "%26")
            let wire = try await onThread {
                let wire = try Wire(port: stage.port, receiveBuffer: 1 << 12)
                try wire.send(stage.request("GET", path))
                return wire
            }
            let reply = try await onThread { try wire.reply() }
            #expect(reply.status == 200 && reply.body.count >= 8_000_000 && reply.fields["cache-control"] == "no-store")
            #expect(reply.fields["etag"] == "\"\(Digest(of: reply.body))\"")
            #expect(try await stage.library.statistics().entries == 0)
        }
    }
}
