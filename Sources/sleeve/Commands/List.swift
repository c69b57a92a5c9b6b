import ArgumentParser
import CoverCache
import CoverLibrary

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cached covers, oldest first.",
        discussion: """
            Each line has the digest's beginning, size, pixels, type and URL. With --json each line is an object: url, digest, \
            bytes, type, width, height, storedAt, validatedAt and freshUntil (RFC 3339), pinned, and stale if it is.

              sleeve list | grep covers.example.org
              sleeve list --json | jq -r .url
            """)

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        let library = try await openLibrary(try options.configuration(), makesCache: false)
        var text = ""
        let now = Int64(secondsSince1970() * 1_000)
        do {
            try library.entries { entry in
                text += options.json ? json(entry, now) : plain(entry)
                if text.utf8.count > 64 << 10 {
                    try tell(text)
                    text = ""
                }
            }
        } catch let error as CacheError {
            throw fail("\(error)")
        }
        try tell(text)
        await library.close()
    }

    private func plain(_ entry: CachedEntry) -> String {
        let metadata = entry.metadata
        let size = metadata.width.map { "\($0)×\(metadata.height ?? 0)" } ?? "-"
        return "\(entry.digest.description.prefix(12))  \(pad(ByteSize(entry.bytes).description, 8))  \(pad(size, 9))  "
            + "\(metadata.mediaType)  \(metadata.key)\n"
    }

    private func pad(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private func json(_ entry: CachedEntry, _ now: Int64) -> String {
        let metadata = entry.metadata
        var line = JSONObject()
        line.add("url", metadata.key)
        line.add("digest", entry.digest.description)
        line.add("bytes", entry.bytes)
        line.add("type", metadata.mediaType)
        line.add("width", metadata.width)
        line.add("height", metadata.height)
        line.add("storedAt", timestamp(metadata.storedAt))
        line.add("validatedAt", timestamp(entry.validatedAt))
        line.add("freshUntil", metadata.freshUntil.map { timestamp($0) })
        line.add("pinned", false)
        if metadata.freshUntil.map({ $0 <= now }) ?? true { line.add("stale", true) }
        return line.text + "\n"
    }
}
