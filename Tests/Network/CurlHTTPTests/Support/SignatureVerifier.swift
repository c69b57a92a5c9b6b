import Foundation
import Platform
import Wire

/// AWS Signature Version 4 as a server checks it ("Authenticating Requests: Using the Authorization Header", Amazon S3 API Reference).
struct SignatureVerifier {
    var secret: String
    var scope: String

    /// Why a server would refuse the request; nil if it would not.
    func problem(of request: ScriptedServer.Request) -> String? {
        guard let authorization = request.field("Authorization"),
            let credential = Self.value(of: "Credential=", in: authorization),
            let signed = Self.value(of: "SignedHeaders=", in: authorization),
            let signature = Self.value(of: "Signature=", in: authorization),
            authorization.hasPrefix("AWS4-HMAC-SHA256 "), let time = request.field("x-amz-date")
        else { return "it is not signed" }
        let date = String(time.prefix(8))
        guard credential.hasSuffix("/\(date)/\(scope)/aws4_request") else { return "the scope is \(credential)" }
        let names = signed.split(separator: ";").map(String.init)
        guard names == names.sorted(), names.contains("host") else { return "it signs \(signed)" }
        var lines = ""
        for name in names {
            guard let value = request.field(name) else { return "it signs \(name), which it does not have" }
            lines += "\(name):\(value)\n"
        }
        for line in request.head.split(separator: "\r\n") where line.lowercased().hasPrefix("x-amz-") {
            let name = line.prefix { $0 != ":" }.lowercased()
            guard names.contains(name) else { return "it has \(name), which it does not sign" }
        }
        let payload = Digest(of: request.body).description
        guard request.field("x-amz-content-sha256") == payload else { return "the payload's hash is another one" }
        let method = request.head.prefix { $0 != " " }
        let canonical = "\(method)\n\(request.target)\n\n\(lines)\n\(signed)\n\(payload)"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(date)/\(scope)/aws4_request\n\(Digest(of: canonical.utf8))"
        var key = Array("AWS4\(secret)".utf8)
        for part in [date] + scope.split(separator: "/").map(String.init) + ["aws4_request"] {
            key = Self.bytes(Self.authenticationCode(of: Array(part.utf8), key))
        }
        let expected = Self.authenticationCode(of: Array(text.utf8), key).description
        return signature == expected ? nil : "the signature does not match"
    }

    private static func value(of name: String, in text: String) -> String? {
        text.range(of: name).map { String(text[$0.upperBound...].prefix { $0 != "," }) }
    }

    private static func bytes(_ digest: Digest) -> [UInt8] { digest.withUnsafeBytes { Array($0) } }

    /// HMAC-SHA256 (RFC 2104), of keys of up to 64 bytes.
    private static func authenticationCode(of text: [UInt8], _ key: [UInt8]) -> Digest {
        let padded = key + [UInt8](repeating: 0, count: 64 - key.count)
        let inner = bytes(Digest(of: padded.map { $0 ^ 0x36 } + text))
        return Digest(of: padded.map { $0 ^ 0x5C } + inner)
    }
}
