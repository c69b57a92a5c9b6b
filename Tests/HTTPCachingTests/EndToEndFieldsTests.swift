import HTTPTypes
import Testing

@testable import HTTPCaching

@Suite struct EndToEndFieldsTests {
    @Test func `RFC 9110 §7.6.1: fields of the connection, and those that Connection names, are removed`() {
        let fields: HTTPFields = [
            .connection: "close, X-Hop", HTTPField.Name("X-Hop")!: "1", HTTPField.Name("Keep-Alive")!: "5",
            .transferEncoding: "chunked", .upgrade: "h2c", .te: "trailers", .proxyAuthenticate: "Basic",
            HTTPField.Name("X-End")!: "2", .eTag: "\"a\"",
        ]
        #expect(fields.endToEnd == [HTTPField.Name("X-End")!: "2", .eTag: "\"a\""])
    }
}
