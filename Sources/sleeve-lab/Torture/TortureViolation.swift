/// A promise that the cache has not kept.
struct TortureViolation: Error, Sendable, Equatable, Encodable {
    enum Kind: String, Sendable, Encodable {
        /// An acknowledged cover is missing.
        case lost
        /// Bytes or a digest are not those that the origin serves.
        case wrongBytes
        /// A listed cover cannot be read.
        case unreadable
        /// The cache cannot be opened, or `verify` finds a defect.
        case damaged
        /// The covers take more space than the capacity allows.
        case overCapacity
        /// A process has not ended within its time limit.
        case waits
        /// A process that was not killed has failed.
        case failed
    }

    var kind: Kind
    var url: String?
    var digest: String?
    var detail: String

    init(_ kind: Kind, url: String? = nil, digest: String? = nil, _ detail: String) {
        (self.kind, self.url, self.digest, self.detail) = (kind, url, digest, detail)
    }

    /// `lost: http://… (SHA-256 ab…): the cache does not list it`.
    var text: String {
        let cover = url.map { $0 + (digest.map { " (SHA-256 \($0))" } ?? "") + ": " } ?? ""
        return "\(kind.name): \(cover)\(detail)"
    }
}

extension TortureViolation.Kind {
    fileprivate var name: String {
        switch self {
        case .lost: "lost"
        case .wrongBytes: "wrong bytes"
        case .unreadable: "not readable"
        case .damaged: "damaged"
        case .overCapacity: "over capacity"
        case .waits: "waits"
        case .failed: "failed"
        }
    }
}
