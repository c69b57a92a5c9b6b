package import Platform

extension Row {
    /// The digest in a blob; nil if the value is none.
    package borrowing func digest(_ column: Int32) -> Digest? {
        withBytes(column) { $0.flatMap { Digest(bytes: $0) } }
    }
}

extension SQLValue {
    /// The digest as a blob.
    package static func digest(_ digest: Digest) -> SQLValue { .blob(digest.withUnsafeBytes { Array($0) }) }
}
