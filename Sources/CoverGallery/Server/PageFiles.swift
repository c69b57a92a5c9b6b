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
        var contents = Self.contents + [("style.css", Array(sheets.joined()))]
        // A worker that differs by a byte is a new one to browsers, and brings the files it names along.
        let version = Self.tag(contents.flatMap(\.bytes))
        if let worker = contents.firstIndex(where: { $0.name == "service-worker.js" }) {
            contents[worker].bytes = Self.replacing("VERSION", with: version, in: contents[worker].bytes)
        }
        files = Dictionary(
            uniqueKeysWithValues: contents.map { name, bytes in
                (name, File(bytes: ByteBuffer(bytes: bytes), type: Self.type(of: name), tag: "\"\(Self.tag(bytes))\""))
            })
    }

    private static func tag(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).prefix(8).map { String($0, radix: 16) }.joined()
    }

    private static func replacing(_ word: String, with text: String, in bytes: [UInt8]) -> [UInt8] {
        guard let range = bytes.firstRange(of: Array(word.utf8)) else { return bytes }
        return bytes[..<range.lowerBound] + Array(text.utf8) + bytes[range.upperBound...]
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
