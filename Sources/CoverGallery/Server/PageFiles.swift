import Crypto
import HTTPTypes
import Hummingbird

/// The page's own files, which are part of the program: a gallery needs nothing beside it on the disk.
struct PageFiles: Sendable {
    private struct File {
        var bytes: ByteBuffer
        var type: String
        var tag: String
    }

    private let files: [String: File]

    init() {
        // Style sheets are small and all needed at once: as one they cost one request.
        let sheets = Self.styleSheets.compactMap { name in Self.contents.first { $0.name == name }?.bytes }
        let contents = Self.contents + [("style.css", Array(sheets.joined()))]
        files = Dictionary(
            uniqueKeysWithValues: contents.map { name, bytes in
                let digest = SHA256.hash(data: bytes).prefix(8).map { String($0, radix: 16) }.joined()
                return (name, File(bytes: ByteBuffer(bytes: bytes), type: Self.type(of: name), tag: "\"\(digest)\""))
            })
    }

    /// In the order in which they build on each other.
    static let styleSheets = ["base.css", "toolbar.css", "scroller.css", "details.css", "panel.css", "dialog.css"]

    /// A file, or that it has not changed.
    /// - Throws: `HTTPError`: there is no such file.
    func response(_ name: String, _ request: Request) throws -> Response {
        guard let file = files[name] else { throw HTTPError(.notFound, message: "there is nothing here") }
        var headers: HTTPFields = [.contentType: file.type, .eTag: file.tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = String(file.bytes.readableBytes)
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: file.bytes))
    }

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "webmanifest": "application/manifest+json"
        default: "application/octet-stream"
        }
    }
}
