/// What a source answered when it was asked for an album's cover.
package struct SourceAnswer: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It has albums that match, for certain or perhaps.
        case found
        /// It has no album that matches.
        case notFound = "not found"
        /// It asked for fewer requests, however long the run waited.
        case throttled
        /// The request failed, or its answer could not be read.
        case failed
        /// It was not asked; `detail` says why.
        case notAsked = "not asked"
    }

    package var source: SourceName
    package var kind: Kind
    /// The requested URL without secrets; `""` if no request was needed.
    package var url: String
    /// When it answered, in milliseconds since 1970.
    package var time: Int64
    /// One line for people.
    package var detail: String

    package init(_ source: SourceName, _ kind: Kind, url: String, time: Int64, detail: String) {
        (self.source, self.kind, self.url, self.time, self.detail) = (source, kind, url, time, detail)
    }

    /// What was answered, on one line.
    package var text: String { detail.isEmpty ? kind.rawValue : "\(kind.rawValue): \(detail)" }

    /// How long an answer counts, in milliseconds: that an album is missing for 30 days, what was found for 7. Others say nothing about the
    /// album.
    package var lifetime: Int64? {
        switch kind {
        case .found: Self.shortestLifetime
        case .notFound: Self.absenceLifetime
        case .throttled, .failed, .notAsked: nil
        }
    }

    static let shortestLifetime: Int64 = 7 * 86_400_000
    static let absenceLifetime: Int64 = 30 * 86_400_000

    /// Whether the source need not be asked again. An answer from the future, of a wrong clock, does not count.
    package func counts(at now: Int64) -> Bool { lifetime.map { time <= now && now < time + $0 } ?? false }
}
