/// The name of a source of covers, as options, reports and the memory have it: that of a service of `SourceService.all`, or of a person's own.
package struct SourceName: RawRepresentable, Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }

    private var service: SourceService? { Self.ranks[self].map { SourceService.all[$0] } }

    /// The services' places in their order.
    private static let ranks = Dictionary(
        uniqueKeysWithValues: SourceService.all.enumerated().map { ($0.element.name, $0.offset) })

    /// The service's own name.
    package var title: String { service?.title ?? rawValue }

    /// The service whose pictures it has, and with which it errs alike.
    var lineage: SourceName { service?.kin ?? self }

    /// Whether it is that of a person's own service.
    package var isOwn: Bool { service == nil }

    /// A person's own services by their names, then the others in their order.
    package static func < (first: Self, second: Self) -> Bool {
        let (rank, other) = (ranks[first] ?? -1, ranks[second] ?? -1)
        return rank != other ? rank < other : first.rawValue < second.rawValue
    }
}
