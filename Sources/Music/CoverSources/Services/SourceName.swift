/// The name of a source of covers, as options, reports and the memory have it.
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

    /// In the order of all services. Other names, such as one that a memory has of a former service, come first.
    package static func < (first: Self, second: Self) -> Bool {
        (ranks[first] ?? -1, first.rawValue) < (ranks[second] ?? -1, second.rawValue)
    }
}
