package import Platform

/// Why a library cannot be used. `message` says what to do about it.
public struct LibraryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line.
    public var message: String
    /// The same as `message`.
    public var description: String { message }

    package init(message: String) { self.message = message }

    /// A call during or after `LibraryAPI.close()`.
    package static let closed = LibraryError(message: "the library is closed")

    package init(_ error: SystemError) {
        message = "cannot \(error.call) \(error.path ?? ""): \(error.reason)"
    }
}
