import CommandSupport
/// The contents of the cache at a check.
struct CacheContents: Sendable, Equatable {
    /// The digests that the cache lists, by URL.
    var listed: [String: String] = [:]
    /// The SHA-256 of the bytes that it returned, by URL.
    var read: [String: String] = [:]
    /// Why a listed cover could not be read, by URL.
    var unreadable: [String: String] = [:]
    /// The defects that `verify` found.
    var defects: [String] = []
    /// The disk space of the covers' files, in bytes.
    var coverBytes = 0

    /// The violations that do not depend on acknowledgements.
    /// - Parameters:
    ///   - catalog: What the origin serves.
    ///   - limit: The most disk space that the covers may take, in bytes.
    func violations(catalog: TortureCatalog, limit: Int) -> [TortureViolation] {
        var violations = defects.map { TortureViolation(.damaged, "verify: \($0)") }
        for (url, digest) in listed.sorted(by: { $0.key < $1.key }) {
            guard let right = catalog.digests[url] else {
                violations.append(TortureViolation(.wrongBytes, url: url, digest: digest, "it was never downloaded"))
                continue
            }
            if digest != right {
                violations.append(
                    TortureViolation(.wrongBytes, url: url, digest: right, "the cache lists the digest \(digest)"))
            }
            if let found = read[url] {
                if found == right { continue }
                violations.append(
                    TortureViolation(.wrongBytes, url: url, digest: right, "bytes with the digest \(found) were read"))
            } else {
                violations.append(
                    TortureViolation(.unreadable, url: url, digest: right, unreadable[url] ?? "its bytes are gone"))
            }
        }
        if coverBytes > limit {
            violations.append(
                TortureViolation(
                    .overCapacity,
                    "the covers take \(Decimals.grouped(coverBytes)) bytes, at most \(Decimals.grouped(limit)) are allowed"
                ))
        }
        return violations
    }
}
