import CGalleryPage
import CoverLibrary
import HTTPTypes
import Platform
import WebServer

/// The page's own files. They are embedded in the program.
///
/// Their addresses in the page have their version, `files/VERSION/app.js`, so that a browser never asks for them twice. The version counts for
/// their caching alone: a page that was open while the server became a newer one gets the newer files.
struct PageFiles: Sendable {
    private struct File {
        var bytes: [UInt8]
        var compressed: [UInt8]?
        var type: String
        var tag: String
    }

    /// Every file of `CGalleryPage/Page`.
    static let contents: [(name: String, bytes: [UInt8])] = (0..<sleeve_page_file_count()).map { index in
        let file = sleeve_page_file_at(index)
        return (String(cString: file.name), Array(UnsafeBufferPointer(start: file.bytes, count: file.length)))
    }

    /// What a person gets who has no token: none of the page's own.
    static let tokenPage = "token.html"

    private let files: [String: File]
    private let version: String

    init() {
        let contents = Self.contents.filter { $0.name != Self.tokenPage }.map { name, bytes in
            (name: name, bytes: [".css", ".js"].contains { name.hasSuffix($0) } ? Self.withoutComments(bytes) : bytes)
        }
        // The page needs all style sheets together: as one file they cost one request.
        let sheets = Self.styleSheets.compactMap { name in contents.first { $0.name == name }?.bytes }
        let modules = contents.filter { $0.name.hasSuffix(".js") && $0.name != "service-worker.js" }
            .map { ($0.name, String(decoding: $0.bytes, as: UTF8.self)) }
        let script = PageScript(
            Dictionary(uniqueKeysWithValues: modules), main: Self.scripts[0], restName: Self.scripts[1])
        var served = contents.filter { !Self.scripts.contains($0.name) }
        served += [
            ("style.css", Array(sheets.joined())), (Self.scripts[0], Array(script.first.utf8)),
            (Self.scripts[1], Array(script.rest.utf8)),
        ]
        // A browser installs a service worker again if a byte differs, and with it all files of the page.
        let version = Self.tag(served.flatMap(\.bytes))
        let paths = served.map(\.name).filter(Self.isCached).map { name in
            // Others are what a browser knows the page by.
            name.hasSuffix(".js") || name.hasSuffix(".css") ? "\"files/\(version)/\(name)\"" : "\"\(name)\""
        }
        for (index, file) in served.enumerated() where ["index.html", "service-worker.js"].contains(file.name) {
            let text = String(decoding: file.bytes, as: UTF8.self).replacing("VERSION", with: version)
            served[index].bytes = Array(text.replacing("\"PATHS\"", with: paths.joined(separator: ", ")).utf8)
        }
        self.version = version
        files = Dictionary(
            uniqueKeysWithValues: served.map { name, content in
                let file = File(
                    bytes: content, compressed: Gzip.compressed(content), type: Self.type(of: name),
                    tag: "\"\(Self.tag(content))\"")
                return (name, file)
            })
    }

    /// A script or style sheet without the lines that are comments alone: with them, a page is a third longer.
    static func withoutComments(_ bytes: [UInt8]) -> [UInt8] {
        var isComment = false
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { line in
            let text = line.drop { $0 == " " }
            if text.hasPrefix("/*"), text.hasSuffix("*/") || !text.contains("*/") { isComment = true }
            defer { if isComment, text.hasSuffix("*/") { isComment = false } }
            return !isComment && !text.hasPrefix("//")
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private static func tag(_ bytes: [UInt8]) -> String {
        String(Digest(of: bytes).description.prefix(16))
    }

    /// Whether the service worker stores a file. The page itself is stored by its folder.
    private static func isCached(_ name: String) -> Bool {
        name.hasSuffix(".css")
            ? name == "style.css" : name.hasSuffix(".js") ? scripts.contains(name) : name != "index.html"
    }

    /// What the page asks for instead of its modules: those that show the first covers, and all others.
    private static let scripts = ["app.js", "tools.js"]

    /// In the order of the cascade.
    private static let styleSheets = [
        "base.css", "toolbar.css", "cover.css", "stage.css", "details.css", "wall.css", "review.css", "dialog.css",
        "activity.css",
    ]

    /// - Parameter version: As the request names it; nil if it names none.
    /// - Throws: `HTTPError` if there is no such file.
    func response(_ name: String, version: String? = nil, _ request: Request) async throws -> Response {
        guard let file = files[name] else { throw HTTPError(.notFound, message: "there is nothing here") }
        // RFC 8246.
        let caching = version == self.version ? "private, max-age=31536000, immutable" : "no-cache"
        return await .text(file.bytes, type: file.type, tag: file.tag, for: request, caching) { file.compressed }
    }

    /// The page.
    /// - Parameter ahead: the digests of covers that it loads before its scripts are there, as the wall then shows them.
    func page(loading ahead: [String], _ request: Request) async throws -> Response {
        guard !ahead.isEmpty, let file = files["index.html"] else { return try await response("index.html", request) }
        let links = ahead.map { digest in
            let set = LibraryAPI.keptSizes.map { "covers/\(digest)?w=\($0) \($0)w" }.joined(separator: ",")
            return
                "<link rel=\"preload\" as=\"image\" fetchpriority=\"high\" imagesrcset=\"\(set)\" imagesizes=\"\(Self.sizes)\">\n"
        }
        let bytes = Array(
            String(decoding: file.bytes, as: UTF8.self).replacing(Self.end, with: links.joined() + Self.end).utf8)
        let tag = "\"\(Self.tag(bytes))\""
        return await .text(bytes, type: file.type, tag: tag, for: request, "no-cache") { Gzip.compressed(bytes) }
    }

    private static let end = "</head>"
    /// The width of a cover on the wall as it opens (wall.js), which decides what size of the picture a browser takes: the same for the widths
    /// around this one.
    private static let sizes = """
        (max-width: 599px) and (min-resolution: 2.5dppx) calc((100vw - 56px) / 4.5), \
        (max-width: 599px) calc((100vw - 56px) / 3), 165px
        """

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

/// The page's modules as two scripts: a browser that asks for each of them waits for four round trips before the first cover.
///
/// A module becomes a function that returns what it exports, and runs when another one imports it first. The main one is the end of `first`.
struct PageScript {
    /// The main module and those that it imports, and the rest of them, which it imports later.
    let first: String, rest: String

    /// - Parameters:
    ///   - modules: Their texts by their names. They import names with `import { … } from "./NAME";` on one line, and export declarations.
    ///   - main: The module that starts the page. It may use `await` at its top level, and `import("./NAME")`.
    ///   - restName: The name of the script `rest`.
    init(_ modules: [String: String], main: String, restName: String) {
        var names = [main], index = 0
        while index < names.count {
            let imported = (modules[names[index]] ?? "").matches(of: Self.imported).map { String($0.2) }
            names += imported.filter { !names.contains($0) }
            index += 1
        }
        func functions(_ names: [String]) -> String {
            names.map { name in
                let text = modules[name] ?? "",
                    exports = text.matches(of: Self.exported).map(\.2).joined(separator: ", ")
                return "\"\(name)\": () => {\n\(Self.body(text))return { \(exports) };\n},\n"
            }.joined()
        }
        first = """
            const modules = {}, load = (name) => (modules[name] ??= functions[name]());
            const later = async (name) => (Object.assign(functions, (await import("./\(restName)")).functions(load)), load(name));
            const functions = {
            \(functions(Array(names.dropFirst())))};
            \(Self.body(modules[main] ?? ""))
            """
        rest = """
            export const functions = (load) => ({
            \(functions(modules.keys.filter { !names.contains($0) }.sorted()))});
            """
    }

    private static func body(_ text: String) -> String {
        text.replacing(imported) { "const {\($0.1)} = load(\"\($0.2)\");" }
            .replacing(importedLater) { "later(\"\($0.1)\")" }.replacing(exported) { "\($0.1) \($0.2)" }
    }

    private static var imported: Regex<(Substring, Substring, Substring)> {
        /^import \{(.*)\} from "\.\/(.*)";$/.anchorsMatchLineEndings()
    }

    private static var importedLater: Regex<(Substring, Substring)> { /\bimport\("\.\/(.*?)"\)/ }

    private static var exported: Regex<(Substring, Substring, Substring)> {
        /^export ((?:async )?function|class|const) (\w+)/.anchorsMatchLineEndings()
    }
}
