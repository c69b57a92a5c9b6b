import CoverCache

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension CoverFailure {
    /// The failure that a server told earlier, and that is not asked about again before `remembered.until`.
    static func absent(_ url: String, _ remembered: Hint) -> CoverFailure {
        let until = Date(timeIntervalSince1970: Double(remembered.until) / 1_000).ISO8601Format()
        let status = Int(remembered.value) ?? 404
        var failure = CoverFailure(
            .status, url: url, detail: "the server answered \(status) before; remembered until \(until)", status: status
        )
        failure.rememberedUntil = remembered.until
        return failure
    }
}
