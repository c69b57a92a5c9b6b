public import Platform

/// Why a library cannot do what was asked. `message` says what happened and what to do. Further cases may be added: switch with
/// `@unknown default`.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum LibraryError: Error, Sendable, Hashable {
    /// A value of the configuration is out of its range, or a URL in it cannot be used.
    case invalidConfiguration(String)
    /// The library file cannot be read. The text names the file and, in malformed JSON, line and column.
    case unreadableAlbums(String)
    /// A file cannot be read.
    case unreadableFile(path: String, reason: String)
    /// A file cannot be written.
    case unwritableFile(path: String, reason: String)
    /// The history of edits beside the library file, with the mementos and the outbox, cannot be used.
    case unusableHistory(path: String, reason: String)
    /// Another edit came after the one that was to be undone or redone.
    case editedSince
    /// The cache directory or its index cannot be used.
    case unusableCache(String)
    /// The network cannot be started.
    case networkUnavailable(String)
    /// The call needs the network, and the library is offline.
    case offline
    /// The call came during or after `LibraryAPI.close()`.
    case closed

    /// The error in one line.
    public var message: String {
        switch self {
        case .invalidConfiguration(let text), .unreadableAlbums(let text), .unusableCache(let text):
            text
        case .unreadableFile(let path, let reason): "cannot read \(path): \(reason)"
        case .unwritableFile(let path, let reason): "cannot write \(path): \(reason)"
        case .unusableHistory(let path, let reason): "cannot use the library's history in \(path): \(reason)"
        case .networkUnavailable(let reason): "cannot start the network: \(reason)"
        case .editedSince: "something else was edited since, so nothing was undone or redone"
        case .offline: "nothing can be refreshed offline"
        case .closed: "the library is closed"
        }
    }

    package init(_ error: SystemError) {
        self = .unwritableFile(path: error.path ?? "the library", reason: error.reason)
    }
}

extension LibraryError: LocalizedError, CustomStringConvertible {
    /// The same as `message`.
    public var description: String { message }
    /// The same as `message`.
    public var errorDescription: String? { message }
}
