package import CoverFetch

extension CoverRequest {
    /// Which cached answers are used. Further policies may be added.
    public struct CachePolicy: Sendable, Hashable, CustomStringConvertible {
        package let use: CacheUse

        /// Use the cached cover, even if it is stale, and a cached 404 or 410 (RFC 9111).
        public static let useCache = Self(use: .useCache)
        /// As `useCache`, but ask again where a failure is remembered: a 404 or 410 of the URL, a host that could not be reached.
        public static let ignoreAbsence = Self(use: .ignoreAbsence)
        /// Ask the server whether the cached cover is unchanged, even if it is fresh (RFC 9111 §4.3). It is downloaded if it has changed
        /// or is not cached. If the server cannot be asked, the request fails and the cached cover stays.
        public static let revalidate = Self(use: .revalidate)
        /// Download the cover, whatever is cached for its URL. Caches on the way are asked to validate theirs (`Cache-Control: no-cache`).
        /// If that fails, the request fails and the cached cover stays.
        public static let reload = Self(use: .reload)

        /// The name, such as `useCache`.
        public var description: String { "\(use)" }
    }
}
