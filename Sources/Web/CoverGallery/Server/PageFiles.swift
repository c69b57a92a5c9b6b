import HTTPTypes
import Hummingbird
import Platform

/// The page's own files. They are embedded in the program.
struct PageFiles: Sendable {
    private struct File {
        var bytes: ByteBuffer
        var type: String
        var tag: String
    }

    private let files: [String: File]

    init() {
        // The page needs all style sheets together: as one file they cost one request.
        let sheets = Self.styleSheets.compactMap { name in Self.contents.first { $0.name == name }?.bytes }
        var contents = Self.contents + [("style.css", Array(sheets.joined()))]
        // A browser installs a service worker again if a byte differs, and with it all files of the page.
        if let worker = contents.firstIndex(where: { $0.name == "service-worker.js" }) {
            let paths = contents.map(\.name).filter(Self.isCached).map { "\"\($0)\"" }.joined(separator: ", ")
            let text = String(decoding: contents[worker].bytes, as: UTF8.self)
            let version = Self.tag(contents.flatMap(\.bytes))
            contents[worker].bytes = Array(
                text.replacing("VERSION", with: version).replacing("\"PATHS\"", with: paths).utf8)
        }
        files = Dictionary(
            uniqueKeysWithValues: contents.map { name, bytes in
                (name, File(bytes: ByteBuffer(bytes: bytes), type: Self.type(of: name), tag: "\"\(Self.tag(bytes))\""))
            })
    }

    private static func tag(_ bytes: [UInt8]) -> String {
        String(Digest(of: bytes).description.prefix(16))
    }

    /// Whether the service worker stores a file. The page itself is stored by its folder, and its style sheets as one file.
    private static func isCached(_ name: String) -> Bool {
        name != "index.html" && name != "service-worker.js" && (!name.hasSuffix(".css") || name == "style.css")
    }

    /// In the order of the cascade.
    private static let styleSheets = [
        "base.css", "toolbar.css", "cover.css", "scroller.css", "details.css", "wall.css", "panel.css", "dialog.css",
        "viewer.css",
    ]

    /// - Throws: `HTTPError` if there is no such file.
    func response(_ name: String, _ request: Request) throws -> Response {
        guard let file = files[name] else { throw HTTPError(.notFound, message: "there is nothing here") }
        return .file(
            .init(byteBuffer: file.bytes), type: file.type, tag: file.tag, for: request, [.cacheControl: "no-cache"])
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
