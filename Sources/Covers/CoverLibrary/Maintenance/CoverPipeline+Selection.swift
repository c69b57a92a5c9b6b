import CoverCache
import CoverFetch
import CurlHTTP

extension CoverPipeline {
    /// The cached entries of a selection.
    /// - Throws: `LibraryError` if it names no valid host.
    func entries(of selection: CoverSelection) throws(LibraryError) -> SelectedEntries {
        try SelectedEntries(selection) { [self] request throws(CoverFailure) in try keys(of: request) }
    }

    /// Reads the next batch on a thread that may block.
    func next(_ selected: inout SelectedEntries) async throws -> SelectedEntries.Batch? {
        let (batch, rest) = try await read { [selected] reader in
            var rest = selected
            let batch = try rest.next(from: reader)
            return (batch, rest)
        }
        selected = rest
        return batch
    }

    /// The keys of a request's URLs.
    /// - Throws: `CoverFailure` if none is usable.
    func keys(of request: CoverRequest) throws(CoverFailure) -> [String] { try urls(of: request).map(\.string) }

    /// A request's usable URLs.
    /// - Throws: `CoverFailure` if there is none.
    func urls(of request: CoverRequest) throws(CoverFailure) -> [HTTPURL] {
        let locations = try self.locations(at: request.location, of: request.album) ?? [request.location]
        let urls = locations.compactMap { try? key($0) }
        if urls.isEmpty { return [try key(locations[0])] }
        return urls
    }
}
