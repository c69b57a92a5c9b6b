import OriginServer
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

    @Test func `a browser that stops reading a cover is disconnected, and its memory is released`() async throws {
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
            try await eventually { stage.gallery.model.heldBytes == cover.data.count }
            try await eventually { stage.gallery.model.heldBytes == 0 }
            #expect(try await onThread { try wire.drain().body.count } < cover.data.count)
        }
    }
}
