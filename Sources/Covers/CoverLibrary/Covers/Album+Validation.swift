package import AlbumLibrary
import CoverFetch
import CurlHTTP
import Platform

extension Album {
    /// Checks the album. Returns it without whitespace around its texts.
    /// - Parameter former: The album before an edit. Problems in fields that the edit does not change are ignored.
    /// - Throws: `AlbumProblem` if it has no title, or its year, a cover URL or a MusicBrainz id is not valid.
    package func validated(editing former: Album? = nil) throws(AlbumProblem) -> Album {
        try validated(editing: former) { url in
            do throws(CoverFailure) {
                _ = try HTTPURL(location: url.trimmingWhitespace(), ignoring: [])
                return nil
            } catch {
                return (error.url, error.detail)
            }
        }
    }
}

extension CoverArtArchive {
    /// - Throws: `LibraryError` if the archive's URL cannot be requested.
    func validate() throws(LibraryError) {
        do throws(HTTPURL.Problem) {
            _ = try HTTPURL(base)
        } catch {
            throw .invalidConfiguration("cannot use the Cover Art Archive's URL: \(error)")
        }
    }
}

extension ListElement {
    /// A problem in place of an item of which no cover location can be requested.
    package func checked(in file: String) -> ListElement {
        guard case .item(let item) = self, let problem = item.problem(in: file) else { return self }
        return .problem(problem)
    }
}

extension ListItem {
    /// The problem of an item of which no cover location can be requested; nil if one can.
    func problem(in file: String) -> ListProblem? {
        if Self.reason(url) == nil { return nil }
        let others = album?.alternateCoverURLs ?? []
        if others.contains(where: { Self.reason($0) == nil }) || album?.hasMusicBrainzID == true { return nil }
        guard let (url, reason) = Self.reason(url.isEmpty ? others.first ?? "" : url) else { return nil }
        return ListProblem(
            ListLocation(file: file, line: line), "\(url.inMessage): \(reason); skipped", url: url)
    }

    /// Why a URL cannot be requested, and the URL as a message may repeat it.
    private static func reason(_ url: String) -> (url: String, reason: String)? {
        do throws(HTTPURL.Problem) {
            _ = try HTTPURL(url)
            return nil
        } catch {
            return (Redaction.displayable(url), "\(error)")
        }
    }
}

/// One of several parts of a list, for several machines: `3/16` is the fourth of sixteen.
///
/// A cover belongs to the shard `hash(host) mod count`, where `host` is the host name of its first usable URL, in lower case and ASCII
/// form, and `hash` the first eight bytes of its SHA-256 as a number with the most significant byte first. All covers of a host are in one shard, so the limits of requests to a host hold for all machines together. A request without a
/// usable URL belongs to shard 0.
package struct Shard: Sendable, Hashable {
    package static let maximumCount = 65_536

    /// From 0 to `count` - 1.
    package let index: Int
    /// The number of shards, 1 to `maximumCount`.
    package let count: Int

    /// - Parameter text: `index/count` in decimal digits.
    /// - Returns: nil if `text` is anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }),
            let index = Int(parts[0]), let count = Int(parts[1]), (1...Self.maximumCount).contains(count), index < count
        else { return nil }
        (self.index, self.count) = (index, count)
    }

    /// - Parameter host: a host name in lower case and ASCII form, without a port.
    package func contains(host: String) -> Bool {
        let hash = Digest(of: host.utf8).withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
        return hash % UInt64(count) == UInt64(index)
    }

    func contains(_ request: AskBatch.Element) -> Bool {
        switch request {
        case .success(let ask): contains(host: ask.url.host)
        case .failure: index == 0
        }
    }
}
