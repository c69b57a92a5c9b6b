import HTTPTypes
import Testing
import Wire

@testable import CurlHTTP

@Suite(.timeLimit(.minutes(5))) struct ValidatorTests {
    /// The scalars are the bytes on the wire: ISO 8859-1, UTF-8, and what is neither.
    @Test(arguments: ["\"caf\u{E9}\"", "\"caf\u{C3}\u{A9}\"", "\"\u{80}\u{FF}\u{EE}\u{BE}\u{80}\"", "\"plain\""])
    func `RFC 9110 section 8.8.3: a validator goes back to the byte`(tag: String) async throws {
        try await withScriptedServer { request in
            request.field("If-None-Match") == tag
                ? httpResponse("304 Not Modified") : httpResponse("200 OK", ["ETag: \(tag)", "Last-Modified: \(tag)"])
        } _: { server in
            try await withClient { client in
                let first = try await client.get(server.url)
                var conditions = HTTPFields()
                for (name, condition) in [
                    (HTTPField.Name.eTag, HTTPField.Name.ifNoneMatch), (.lastModified, .ifModifiedSince),
                ] {
                    for field in first.head.headerFields[fields: name] {
                        field.withUnsafeBytesOfValue { conditions.append(HTTPField(name: condition, value: $0)) }
                    }
                }
                #expect(try await client.get(server.url, conditions).head.status == .notModified)
                #expect(server.requests.last?.field("If-Modified-Since") == tag)
            }
        }
    }
}
