import Platform

extension Date {
    /// - Parameter milliseconds: Since 1970.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
