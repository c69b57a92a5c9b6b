/// Why a file's pictures cannot be changed, as a clause about the file. It stays as it is.
struct EmbeddingProblem: Error, Hashable {
    var reason: String

    static let damaged = EmbeddingProblem(reason: "its tags are damaged")
}

/// A format into whose tags no pictures are written.
struct OtherFormat: Error, Hashable {
    /// For messages, such as `WMA`.
    var name: String
}
