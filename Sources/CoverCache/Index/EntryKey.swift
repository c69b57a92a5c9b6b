/// The key of an entry.
package enum EntryKey: Sendable, Hashable {
    /// A cover: a 200 that does not vary. Its key is its normalised URL.
    case cover(url: String)
    /// Any other response of a URL, in one of a few numbered slots. Only a mirror stores and uses these.
    case response(slot: Int, url: String)

    /// The key as the index holds it.
    package var text: String {
        switch self {
        case .cover(let url): url
        case .response(let slot, let url): "response \(slot) of \(url)"
        }
    }

    /// Whether `text` is the key of a cover. Cover keys are http or https URLs; no other key begins with "http".
    package static func isCover(_ text: String) -> Bool { text.utf8.starts(with: "http".utf8) }
}
