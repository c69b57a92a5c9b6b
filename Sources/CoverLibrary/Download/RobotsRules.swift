import CurlHTTP
import HTTPTypes

/// Nobody knows what a host's `/robots.txt` says.
struct RobotsUnknown: Error {
    /// One line, without the URL.
    var reason: String
}

/// What a host's `/robots.txt` lets a crawler fetch (RFC 9309).
struct RobotsRules: Sendable, Equatable {
    private struct Rule: Sendable, Equatable {
        var pattern: [UInt8]
        var isAllowed: Bool
    }

    private var rules: [Rule] = []

    /// No file, or one that may not be read (4xx): everything is allowed (§2.3.1.3).
    static let everything = RobotsRules()
    /// The file cannot be reached (5xx, no connection): nothing is allowed (§2.3.1.4).
    static let nothing = RobotsRules(rules: [Rule(pattern: Array("/".utf8), isAllowed: false)])

    /// More than this need not be read, in bytes (§2.5).
    private static let longest = 500 << 10

    private init(rules: [Rule] = []) { self.rules = rules }

    /// - Parameter agent: our product token; groups for it go before those for `*` (§2.2.1).
    init(_ text: some Sequence<UInt8>, agent: String) {
        var (own, others): ([Rule], [Rule]) = ([], [])
        var (isOwn, isOthers, isOwnKnown) = (false, false, false)
        var namesAgents = false
        for (name, value) in Self.lines(text) {
            switch name {
            case "user-agent":
                // Lines in a row share the rules behind them.
                if !namesAgents { (isOwn, isOthers) = (false, false) }
                namesAgents = true
                if value == "*" { isOthers = true }
                if Self.token(value) == agent.lowercased() { (isOwn, isOwnKnown) = (true, true) }
            case "allow", "disallow":
                namesAgents = false
                guard !value.isEmpty else { continue }
                let rule = Rule(pattern: Self.normalised(value.utf8), isAllowed: name == "allow")
                if isOwn { own.append(rule) }
                if isOthers { others.append(rule) }
            default: break
            }
        }
        rules = isOwnKnown ? own : others
    }

    /// The longest pattern decides, and of two as long the one that allows (§2.2.2).
    /// - Parameter target: path and query.
    func allow(_ target: some Collection<UInt8>) -> Bool {
        let target = Self.normalised(target)
        var best: Rule?
        for rule in rules where Self.matches(target[...], rule.pattern[...]) {
            let length = best?.pattern.count ?? -1
            if rule.pattern.count > length || rule.pattern.count == length && rule.isAllowed { best = rule }
        }
        return best?.isAllowed ?? true
    }

    // MARK: Reading

    private static func lines(_ text: some Sequence<UInt8>) -> [(name: String, value: String)] {
        let lines = Array(text.prefix(longest)).split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
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

    /// Letters, `_` and `-` alone (§2.2.1); what follows, such as a version, is left out.
    private static func token(_ value: String) -> String {
        value.prefix { $0.isASCII && $0.isLetter || $0 == "_" || $0 == "-" }.lowercased()
    }

    /// Percent-encodings of what needs none are decoded, other bytes outside ASCII encoded: so that both ways of writing a path
    /// are the same (§2.2.2).
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

    /// `*` is any text, `$` at the end the end (§2.2.3). As long as both lengths together, at most their product.
    private static func matches(_ target: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (target, pattern) = (target, pattern)
        var star: (target: ArraySlice<UInt8>, pattern: ArraySlice<UInt8>)?
        while true {
            if pattern.isEmpty { return true }
            if pattern.first == UInt8(ascii: "*") {
                pattern.removeFirst()
                star = (target, pattern)
            } else if pattern.count == 1, pattern.first == UInt8(ascii: "$"), target.isEmpty {
                return true
            } else if let byte = target.first, byte == pattern.first {
                target.removeFirst()
                pattern.removeFirst()
            } else if let last = star, !last.target.isEmpty {
                // The last star takes one more.
                star = (last.target.dropFirst(), last.pattern)
                (target, pattern) = (last.target.dropFirst(), last.pattern)
            } else {
                return false
            }
        }
    }
}

extension RobotsRules {
    /// What asking for `/robots.txt` has shown.
    static func told(_ result: Result<TransferResponse, TransferError>) -> Result<RobotsRules, RobotsUnknown> {
        switch result {
        case .failure(let error): return .failure(RobotsUnknown(reason: error.detail))
        case .success(let response):
            let status = response.head.status
            switch status.kind {
            case .successful: return .success(RobotsRules(response.body.bytes, agent: "sleeve"))
            case .clientError: return .success(.everything)
            default: return .failure(RobotsUnknown(reason: "the server answered \(status.code)"))
            }
        }
    }
}
