/// The name of a source of covers, as options, reports and the memory have it: that of a service of `SourceService.all`, or of a person's own.
package struct SourceName: RawRepresentable, Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }

    private var service: SourceService? { SourceService.all.first { $0.name == self } }

    /// The service's own name.
    package var title: String { service?.title ?? rawValue }

    /// The service whose pictures it has, and with which it errs alike.
    var lineage: SourceName { service?.kin ?? self }

    /// Whether it is that of a person's own service.
    package var isOwn: Bool { service == nil }

    /// A person's own services by their names, then the others in their order.
    package static func < (first: Self, second: Self) -> Bool {
        let ranks = [first, second].map { name in SourceService.all.firstIndex { $0.name == name } ?? -1 }
        return ranks[0] != ranks[1] ? ranks[0] < ranks[1] : first.rawValue < second.rawValue
    }
}
