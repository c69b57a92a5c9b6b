package import AlbumLibrary
import CoverFetch
import CurlHTTP
import Platform

extension Album {
    /// The cache key of the cover at `coverURL`: the normalised URL, in a cache whose keys ignore no parameters.
    /// - Throws: `CoverFailure` if there is no URL, or it cannot be requested.
    public var coverKey: String {
        get throws(CoverFailure) {
            let url = coverURL?.trimmingWhitespace() ?? ""
            if url.isEmpty { throw CoverFailure(.badURL, url: "", detail: "the album has no cover URL") }
            return try HTTPURL(location: url, ignoring: []).string
        }
    }

    /// Checks the album. Returns it without whitespace around its texts.
    /// - Parameter former: The album before an edit. Problems in fields that the edit does not change are ignored.
    /// - Throws: `AlbumProblem` if it has no title, or its year, a cover URL or a MusicBrainz id is not valid.
    package func validated(editing former: Album? = nil) throws(AlbumProblem) -> Album {
        try validated(editing: former) { url in
            do throws(CoverFailure) {
                _ = try Album(coverURL: url).coverKey
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
