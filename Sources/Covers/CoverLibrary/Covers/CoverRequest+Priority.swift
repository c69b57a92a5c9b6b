package import CoverFetch

extension CoverRequest {
    /// The order in which the requests to one host are sent. A priority exceeds no limit: neither the number of transfers in flight
    /// nor a rate, nor a pause that the host asked for. Further priorities may be added.
    public struct Priority: Sendable, Hashable, CustomStringConvertible {
        package let order: FetchPriority

        /// In turn with all others of a run.
        public static let normal = Self(order: .normal)
        /// Before all others of the host, and before other hosts' turns: someone waits for the cover.
        public static let immediate = Self(order: .immediate)

        /// The name, such as `normal`.
        public var description: String { "\(order)" }
    }
}
