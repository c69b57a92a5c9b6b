import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct CacheList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", _superCommandName: "sleeve cache",
        abstract: "List the cached covers, oldest first.",
        discussion: """
              sleeve cache list | grep covers.example.org
              sleeve cache list --json | jq -r .url
              sleeve cache list --json | jq -r 'select(.bytes > 1000000).url'

            Each line has the digest's beginning, size, pixels, type and URL; * marks a pinned cover. With --json each line is an object: url, digest, \
            bytes, type, width, height, storedAt, validatedAt and freshUntil (RFC 3339), pinned, and stale, and gone (from its server), if it is.
            """)

    private static let blockSize = 64 << 10

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withLibrary(try options.configuration(), createsCache: false) { library in
            var text = ""
            let now = Date()
            for try await cover in library.listings() {
                text += options.json ? json(cover, now).text + "\n" : plain(cover)
                if text.utf8.count > Self.blockSize {
                    try printResult(text)
                    text = ""
                }
            }
            try printResult(text)
        }
    }

    private func plain(_ cover: CoverListing) -> String {
        let size = cover.width.map { "\($0)×\(cover.height ?? 0)" } ?? "-"
        return "\(cover.digest.prefix(12))  \(padded(ByteSize(cover.bytes).description, 8))  \(padded(size, 9))  "
            + "\(cover.mediaType) \(cover.isPinned ? "*" : " ") \(cover.url)\n"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private func json(_ cover: CoverListing, _ now: Date) -> JSONObject {
        var line: JSONObject = [
            "url": cover.url, "digest": cover.digest, "bytes": cover.bytes, "type": cover.mediaType,
            "width": cover.width, "height": cover.height, "storedAt": cover.storedAt.ISO8601Format(),
            "validatedAt": cover.validatedAt.ISO8601Format(),
            "freshUntil": cover.freshUntil?.ISO8601Format(), "pinned": cover.isPinned,
        ]
        if cover.isStale(at: now) { line.add("stale", true) }
        if cover.loss?.isGone == true { line.add("gone", true) }
        return line
    }
}
