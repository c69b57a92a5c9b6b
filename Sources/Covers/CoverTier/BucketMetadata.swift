import CoverCache
import Platform

/// A cover's entry as the value of a field of its object.
///
///     1 eyJ1cmwiOiJodHRwczovL…
///
/// The first word is the version; what follows is the line that `entries.jsonl` has of the entry, in base64.
enum BucketMetadata {
    private static let version = "1 "
    /// In bytes. S3 allows 2 KB for names and values; some servers allow more.
    private static let maximumLength = 1_900
    /// The fields of an entry that matter most: validators and whose they are, lifetimes, and that the image is incomplete.
    private static let essentialFields = [
        "etag:", "last-modified:", "cache-control:", "expires:", "date:", "image incomplete:",
        "validators of:", "redirected with:",
    ]

    /// - Returns: nil if even the most important parts are too long, as the URL is.
    static func value(of entry: EntryLine) -> String? {
        var short = entry
        short.metadata.fields = entry.metadata.fields.split(separator: "\n")
            .filter { line in essentialFields.contains { line.lowercased().hasPrefix($0) } }
            .reduce(into: "") { $0 += $1 + "\n" }
        return [entry, short].map { version + Data($0.line.dropLast()).base64EncodedString() }
            .first { $0.utf8.count <= maximumLength }
    }

    /// - Returns: nil if the value is damaged or of another version.
    static func entry(_ value: String) -> EntryLine? {
        guard value.hasPrefix(version) else { return nil }
        return Data(base64Encoded: String(value.dropFirst(version.count))).flatMap { EntryLine($0) }
    }
}
