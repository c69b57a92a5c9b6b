/// Which cached answers an ask accepts: the cases of `CoverRequest.CachePolicy`.
package enum CacheUse: Sendable {
    case useCache, ignoreAbsence, revalidate, reload

    /// The server is asked even if the cover is cached.
    package var asksServer: Bool { self == .revalidate || self == .reload }
    /// A remembered failure counts.
    package var usesAbsence: Bool { self == .useCache }
}
