extension CoverRequest {
    /// Which cached answers are used. Further policies may be added.
    public struct CachePolicy: Sendable, Hashable, CustomStringConvertible {
        private enum Kind { case useCache, ignoreAbsence, onlyCache, revalidate, reload }

        private let kind: Kind

        /// Use the cached cover, even if it is stale, and a cached 404 or 410 (RFC 9111).
        public static let useCache = Self(kind: .useCache)
        /// As `useCache`, but ask again where a failure is remembered: a 404 or 410 of the URL, a host that could not be reached.
        public static let ignoreAbsence = Self(kind: .ignoreAbsence)
        /// Never connect.
        public static let onlyCache = Self(kind: .onlyCache)
        /// Ask the server whether the cached cover is unchanged, even if it is fresh (RFC 9111 §4.3). It is downloaded if it has changed
        /// or is not cached. If the server cannot be asked, the request fails and the cached cover stays.
        public static let revalidate = Self(kind: .revalidate)
        /// Download the cover, whatever is cached for its URL. Caches on the way are asked to validate theirs (`Cache-Control: no-cache`).
        /// If that fails, the request fails and the cached cover stays.
        public static let reload = Self(kind: .reload)

        /// The server is asked even if the cover is cached.
        var asksServer: Bool { kind == .revalidate || kind == .reload }
        /// A remembered failure counts.
        var usesAbsence: Bool { kind == .useCache || kind == .onlyCache }

        /// The name, such as `useCache`.
        public var description: String { "\(kind)" }
    }
}
