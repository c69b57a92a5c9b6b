/// The result of checking every cover of a cache.
public struct CacheVerification: Sendable, Hashable {
    /// URLs that have a cover.
    public var entries = 0
    /// Different covers.
    public var covers = 0
    /// Length of the different covers in bytes.
    public var bytes = 0
    /// Each damaged cover or entry.
    public var defects: [CacheDefect] = []
    /// Damaged covers that were dropped.
    public var dropped = 0
    /// Covers that the disk could not read, and that were kept.
    public var unreadable = 0
    /// The task was cancelled, and the rest was not checked or mended.
    public var isCancelled = false
    /// The number of entries in the rebuilt index; nil if it was not rebuilt.
    public var rebuiltEntries: Int?
    /// Why SQLite cannot read the index, or what is wrong with its rows. Only a new index helps.
    private(set) var corruption: String?

    /// The result for an empty cache.
    public init() {}

    package mutating func add(corruption: String, at path: String) {
        self.corruption = corruption
        defects.append(CacheDefect(nil, at: path, "the index is damaged: \(corruption)"))
    }
}

/// A fault in a cache or a pack. Its description is a sentence.
public struct CacheDefect: Sendable, Hashable, CustomStringConvertible {
    /// The entry's key, if it is known.
    package var key: String?
    /// The file.
    package var location: String
    package var problem: String

    package init(_ key: String?, at location: String, _ problem: String) {
        (self.key, self.location, self.problem) = (key, location, problem)
    }

    /// The URL, the fault and the file.
    public var description: String { (key.map { "\($0): " } ?? "") + "\(problem) (\(location))" }
}
