import CoverCache

/// The cached covers of a selection whose files are there, read from the index as they are asked for: there may be a million.
///
/// ```swift
/// for try await cover in library.listings(.matching(CoverFilter(host: "covers.example.org"))) { print(cover.url) }
/// ```
public struct CoverListings: AsyncSequence, Sendable {
    /// A cached cover.
    public typealias Element = CoverListing
    /// The error that ends the sequence early.
    public typealias Failure = LibraryError

    let pipeline: CoverPipeline
    let selection: CoverSelection

    /// Starts from the beginning, with what is cached then.
    public func makeAsyncIterator() -> Iterator { Iterator(pipeline: pipeline, selection: selection) }

    /// Reads the listings in batches.
    public struct Iterator: AsyncIteratorProtocol {
        let pipeline: CoverPipeline
        let selection: CoverSelection
        private var selected: SelectedEntries?
        private var batch: ArraySlice<CoverListing> = []

        init(pipeline: CoverPipeline, selection: CoverSelection) {
            self.pipeline = pipeline
            self.selection = selection
        }

        /// The next cached cover; nil at the end.
        /// - Throws: `LibraryError` if the filter's host is not valid, the library is closed, or the index cannot be read.
        public mutating func next() async throws(LibraryError) -> CoverListing? {
            try await next(isolation: #isolation)
        }

        /// As `next()`.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LibraryError) -> CoverListing? {
            do {
                var selected = try self.selected ?? pipeline.entries(of: selection)
                while batch.isEmpty {
                    guard let found = try await pipeline.next(&selected) else { return nil }
                    batch = try await pipeline.read { reader in
                        found.entries.filter { reader.hasFile($0) }.map { CoverListing($0) }[...]
                    }
                }
                self.selected = selected
                return batch.popFirst()
            } catch {
                throw LibraryError(error)
            }
        }
    }
}
