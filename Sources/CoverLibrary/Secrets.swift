/// Keeps what grants access out of what people and programs are told: URLs carry it in their user part, and in parameters
/// whose names are known for it. Logs are passed on and kept; a URL with a token in it is as good as the token.
package enum Secrets {
    /// Stands for what was left out.
    private static let mark = "[hidden]"

    /// Parameters of this name hold one, in any case, anything but letters and digits left out: those of OAuth (RFC 6749, RFC 6750 section 2.3),
    /// of signed URLs of the large stores, and those in wide use besides.
    private static let names: Set<String> = [
        "token", "key", "apikey", "appkey", "accesskey", "auth", "authorization", "secret", "password", "passwd",
        "passwort",
        "pass", "pwd", "sig", "signature", "sign", "hmac", "jwt", "session", "sessionid", "sid", "credential", "policy",
        "keypairid", "accesskeyid", "awsaccesskeyid", "privatekey", "bearer", "jsessionid", "phpsessid", "hdnea",
        "hdnts", "googleaccessid", "xamzcredential", "xgoogcredential",
    ]
    private static let endings = ["token", "secret", "password", "signature", "apikey"]

    /// `text` with every such part hidden, wherever in it there is one. A text without any comes back as it is.
    package static func hidden(in text: String) -> String {
        let bytes = text.utf8
        guard bytes.contains(UInt8(ascii: "=")) || bytes.contains(UInt8(ascii: "@")) else { return text }
        return hiddenParameters(in: hiddenUsers(in: text))
    }

    /// `https://user:password@host/` is `https://[hidden]@host/`.
    private static func hiddenUsers(in text: String) -> String {
        var (result, rest) = ("", text[...])
        while let start = rest.firstRange(of: "://")?.upperBound {
            let authority = rest[start...].prefix { !"/?# \t\"'<>".contains($0) }
            if let at = authority.lastIndex(of: "@") {
                result += rest[..<start] + mark
                rest = rest[at...]
            } else {
                result += rest[..<authority.endIndex]
                rest = rest[authority.endIndex...]
            }
        }
        return result + rest
    }

    /// `?token=abc&size=1` is `?token=[hidden]&size=1`.
    private static func hiddenParameters(in text: String) -> String {
        var (result, rest) = ("", text[...])
        while let mark = rest.firstIndex(where: { "?&#;".contains($0) }) {
            let name = rest[rest.index(after: mark)...].prefix { $0 != "=" && !"?&#; \t".contains($0) }
            result += rest[..<name.endIndex]
            rest = rest[name.endIndex...]
            guard rest.first == "=", isSecret(name) else { continue }
            var value = rest.dropFirst().prefix { !"&#; \t\"'<>".contains($0) }
            // What ends a sentence, or a bracket around the URL, is not the value's.
            while let last = value.last, "):,.".contains(last) { value = value.dropLast() }
            result += "=" + (value.isEmpty ? "" : Self.mark)
            rest = rest[value.endIndex...]
        }
        return result + rest
    }

    private static func isSecret(_ name: Substring) -> Bool {
        let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
        return names.contains(plain) || endings.contains { plain.hasSuffix($0) }
    }
}
