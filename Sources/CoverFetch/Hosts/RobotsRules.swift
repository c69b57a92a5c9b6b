import CurlHTTP
import HTTPTypes

/// Why a host's `/robots.txt` could not be fetched.
struct RobotsError: Error {
    /// One line, without the URL.
    var reason: String
}

/// The rules of a host's `/robots.txt` for one crawler (RFC 9309).
struct RobotsRules: Sendable, Equatable {
    private struct Rule: Sendable, Equatable {
        let glob: Glob
        /// Length of the pattern in bytes: the longest that matches decides.
        let length: Int
        let isAllowed: Bool

        init(_ pattern: [UInt8], isAllowed: Bool) {
            glob = Glob(pattern, syntax: .robots)
            length = pattern.count
            self.isAllowed = isAllowed
        }
    }

    private var rules: [Rule] = []

    /// No file, or access denied (4xx): everything is allowed (§2.3.1.3).
    static let everything = RobotsRules()
    /// The file is unreachable (5xx, no connection): nothing is allowed (§2.3.1.4).
    static let nothing = RobotsRules(rules: [Rule(Array("/".utf8), isAllowed: false)])

    /// Bytes read of a file (§2.5).
    private static let maximumLength = 500 << 10

    private init(rules: [Rule] = []) { self.rules = rules }

    /// - Parameter agent: the crawler's product token. Its groups precede those for `*` (§2.2.1).
    init(_ text: some Sequence<UInt8>, agent: String) {
        var (own, others): ([Rule], [Rule]) = ([], [])
        var (isOwn, isOthers, isOwnKnown) = (false, false, false)
        var namesAgents = false
        for (name, value) in Self.lines(text) {
            switch name {
            case "user-agent":
                // Consecutive user-agent lines share the rules that follow.
                if !namesAgents { (isOwn, isOthers) = (false, false) }
                namesAgents = true
                if value == "*" { isOthers = true }
                if Self.token(value) == agent.lowercased() { (isOwn, isOwnKnown) = (true, true) }
            case "allow", "disallow":
                namesAgents = false
                guard !value.isEmpty else { continue }
                let rule = Rule(Self.normalised(value.utf8), isAllowed: name == "allow")
                if isOwn { own.append(rule) }
                if isOthers { others.append(rule) }
            default: break
            }
        }
        rules = isOwnKnown ? own : others
    }

    /// Whether a URL may be fetched. The longest matching pattern decides; of two equally long ones, the one that allows (§2.2.2).
    /// - Parameter target: path and query.
    func allow(_ target: some Collection<UInt8>) -> Bool {
        let target = Self.normalised(target)
        var best: Rule?
        for rule in rules where rule.glob.matches(target) {
            let length = best?.length ?? -1
            if rule.length > length || rule.length == length && rule.isAllowed { best = rule }
        }
        return best?.isAllowed ?? true
    }

    // MARK: Reading

    private static func lines(_ text: some Sequence<UInt8>) -> [(name: String, value: String)] {
        let lines = Array(text.prefix(maximumLength)).split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        return lines.compactMap { line in
            let line = line.prefix { $0 != UInt8(ascii: "#") }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            return (trimmed(line[..<colon]).lowercased(), trimmed(line[(colon + 1)...]))
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        while let last = bytes.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The leading letters, `_` and `-`, without a version (§2.2.1).
    private static func token(_ value: String) -> String {
        value.prefix { $0.isASCII && $0.isLetter || $0 == "_" || $0 == "-" }.lowercased()
    }

    /// Decodes percent-encoded unreserved characters and encodes bytes outside ASCII, so that both spellings of a path match
    /// (§2.2.2).
    private static func normalised(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                rest = rest.dropFirst(2)
                result += isUnreserved(value) ? [value] : encoded(value)
            } else {
                result += byte < 0x80 ? [byte] : encoded(byte)
            }
        }
        return result
    }

    /// RFC 3986 §2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func encoded(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}

extension RobotsRules {
    /// The rules from the response to a request for `/robots.txt`.
    static func rules(
        from result: Result<TransferResponse, TransferError>
    ) -> Result<RobotsRules, RobotsError> {
        switch result {
        case .failure(let error): return .failure(RobotsError(reason: error.detail))
        case .success(let response):
            let status = response.head.status
            switch status.kind {
            case .successful: return .success(RobotsRules(response.body, agent: "sleeve"))
            case .clientError: return .success(.everything)
            default: return .failure(RobotsError(reason: "the server answered \(status.code)"))
            }
        }
    }
}
