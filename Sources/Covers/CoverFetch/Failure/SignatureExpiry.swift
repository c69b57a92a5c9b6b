import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform

/// What says that the signature of a URL has expired: the server refuses that URL, and not this machine.
enum SignatureExpiry {
    /// Statuses that servers answer then.
    private static let statuses = [400, 401, 403]

    /// - Parameters:
    ///   - response: of a server that may have refused a signature.
    ///   - url: what was requested.
    static func explains(_ response: TransferResponse, to url: HTTPURL) -> Bool {
        guard statuses.contains(response.head.status.code) else { return false }
        if let end = url.signatureEnd, end < WallClock.milliseconds() / 1_000 { return true }
        // Amazon, Google and Facebook; Azure.
        let text = String(decoding: response.refusal, as: UTF8.self).lowercased()
        return text.contains("expired") || text.contains("not valid in the specified time frame")
    }
}

extension HTTPURL {
    /// When the signature of the URL expires by its query, in seconds since 1970; nil if the query does not say so.
    ///
    /// Object stores and image hosts sign URLs for a time. Its end is a number of seconds or milliseconds (CloudFront, Google, Alibaba), one in
    /// hexadecimal digits (Discord, Facebook), a date (Azure), or a date and a number of seconds (Amazon's version 4 and its like).
    var signatureEnd: Int64? {
        var (begin, lifetime): (Int64?, Int64?)
        let query = requestURL.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
            .joined()
        for parameter in query.split(separator: "&") {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let value = String(parts[1].replacing("%3A", with: ":").replacing("%3a", with: ":"))
            switch parts[0].lowercased() {
            case "expires", "expire", "expiry", "exp", "e": if let time = Self.time(value) { return time }
            case "ex", "oe": if value.count == 8, let time = Int64(value, radix: 16) { return time }
            case "se": if let time = HTTPDate.seconds(ofISO8601: value) { return time }
            // Akamai: several values in one.
            case "hdnts", "hdnea", "__token__":
                let fields = value.split(separator: "~")
                if let field = fields.first(where: { $0.hasPrefix("exp=") }), let time = Self.time(field.dropFirst(4)) {
                    return time
                }
            case let name where name.hasPrefix("x-") && name.hasSuffix("-date"):
                begin = HTTPDate.seconds(ofISO8601: value)
            case let name where name.hasPrefix("x-") && name.hasSuffix("-expires"):
                lifetime = Int64(value).flatMap { (0...1 << 32).contains($0) ? $0 : nil }
            default: break
            }
        }
        if let begin, let lifetime { return begin + lifetime }
        return nil
    }

    /// A number of ten digits in seconds, or of thirteen in milliseconds.
    private static func time(_ text: some StringProtocol) -> Int64? {
        guard text.allSatisfy(\.isASCII), let number = Int64(text), number > 0 else { return nil }
        switch text.count {
        case 10: return number
        case 13: return number / 1_000
        default: return nil
        }
    }
}
