public import CoverFetch
import CurlHTTP

extension Album {
    /// The key its cover has in the cache: the normalised URL.
    /// - Throws: `CoverFailure`, when there is no URL, or none that can be fetched.
    public var coverKey: String {
        get throws(CoverFailure) {
            let url = coverUrl?.trimmingBlanks() ?? ""
            if url.isEmpty { throw CoverFailure(.badURL, url: "", detail: "the album has no cover URL") }
            return try HTTPURL(location: url).string
        }
    }

    /// The album without blanks around its texts.
    /// - Parameter former: The album before an edit. Problems in fields that the edit does not change are ignored.
    /// - Throws: `AlbumProblem`: it has no title, or its year, a cover URL or a MusicBrainz id is not valid.
    package func validated(editing former: Album? = nil) throws(AlbumProblem) -> Album {
        try validated(editing: former) { url in
            do throws(CoverFailure) {
                _ = try Album(coverUrl: url).coverKey
                return nil
            } catch {
                return (error.url, error.detail)
            }
        }
    }
}

extension CoverArtArchive {
    /// - Throws: `LibraryError`: the base is no URL that can be asked.
    func validate() throws(LibraryError) {
        do throws(HTTPURL.Problem) {
            _ = try HTTPURL(base)
        } catch {
            throw LibraryError(message: "cannot use the Cover Art Archive's URL: \(error)")
        }
    }
}

extension ListItem {
    /// The problem of an item none of whose cover locations can be requested; `nil` if one can.
    package func problem(in file: String) -> ListProblem? {
        if Self.reason(url) == nil { return nil }
        let others = album?.coverUrls ?? []
        if others.contains(where: { Self.reason($0) == nil }) || album?.hasMusicBrainzID == true { return nil }
        guard let (url, reason) = Self.reason(url.isEmpty ? others.first ?? "" : url) else { return nil }
        return ListProblem(
            place: ListPlace(file: file, line: line), message: "\(url.inMessage): \(reason); skipped", url: url)
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
