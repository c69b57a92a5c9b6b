/// The hosts of the Cover Art Archive, as names under `localhost` that clients resolve to this machine themselves.
enum ArchiveHost {
    /// The names of all hosts, as a certificate has them. A wildcard directly before `localhost` is not enough: clients accept
    /// none before a single label.
    static let certificateNames = ["archive.localhost", "*.us.archive.localhost"]
}
