import HTTPTypes
import Testing

@testable import HTTPCaching

/// RFC 9111 section 4.3: validation.
@Suite struct ValidationTests {
    @Test func `§4.3.1: both validators are sent, to the byte`() {
        let odd = "W/\"a,  \\b\""
        let conditions = response([.eTag: odd, .lastModified: "Yesterday"]).conditions
        #expect(conditions[.ifNoneMatch] == odd && conditions[.ifModifiedSince] == "Yesterday")
        #expect(response([.date: date(0)]).conditions.isEmpty)
    }

    /// UTF-8, ISO 8859-1, neither, and UTF-8 that holds what stands for a byte.
    @Test(
        arguments: [
            [0x22, 0xC3, 0xA9, 0x22], [0x22, 0x63, 0xE9, 0x22], [0x22, 0x80, 0xFF, 0xEE, 0x22],
            [0x22, 0xEE, 0xBE, 0x80, 0x22],
            [0x22, 0xEE, 0xBE, 0x80, 0xE9, 0x22], [0x22, 0xEE, 0x80, 0x80, 0x22],
        ] as [[UInt8]])
    func `RFC 9110 section 8.8.3: a stored validator goes back to the byte`(tag: [UInt8]) {
        var fields = HTTPFields()
        for name in [HTTPField.Name.eTag, .lastModified] { fields.append(HTTPField(name: name, value: tag)) }
        let stored = HTTPFields(fieldLines: response(fields).keptFields)
        #expect(stored == fields && HTTPFields(fieldLines: response(stored).keptFields) == fields)
        for condition in response(stored).conditions {
            condition.withUnsafeBytesOfValue { #expect($0.elementsEqual(tag)) }
        }
        #expect(response(stored).conditions.count == 2)
    }

    @Test func `times that no clock shows do not overflow`() {
        for time in [Int64.min, .max] {
            let response = StoredResponse(
                status: 200, fields: [.age: "9", .date: date(0)], requestTime: time, responseTime: time)
            #expect(response.freshness.initialAge >= 0 && response.freshness.freshUntil <= .max)
        }
    }

    @Test func `§3.2: a 304 replaces the fields it names, except those that describe the body`() throws {
        let stored = response([
            .eTag: "\"a\"", .date: date(0), .age: "50", .cacheControl: "max-age=10", .contentType: "image/png",
            .contentLength: "500", .vary: "Accept",
        ])
        let updated = try #require(
            stored.updated(
                by: response(
                    [.date: date(60), .cacheControl: "max-age=20", .contentType: "text/html", .contentLength: "0"],
                    status: 304, sent: 60, arrived: 60)))
        #expect(updated.fields[.cacheControl] == "max-age=20" && updated.fields[.vary] == "Accept")
        #expect(updated.fields[.contentType] == "image/png" && updated.fields[.contentLength] == "500")
        #expect(updated.fields[.eTag] == "\"a\"")
        #expect(
            updated.freshness.initialAge == 0 && updated.freshness.freshUntil == at(80),
            "the age is counted from the 304")
    }

    @Test func `§4.3.4: a 304 without Date and Age was generated as it arrived, whatever the stored response says`()
        throws
    {
        let stored = response([.date: date(0), .age: "50", .cacheControl: "max-age=100"])
        let updated = try #require(stored.updated(by: response([:], status: 304, sent: 60, arrived: 60)))
        #expect(updated.fields[.date] == nil && updated.fields[.age] == nil)
        #expect(updated.freshness.initialAge == 0 && updated.freshness.freshUntil == at(160))
    }

    @Test func `§4.3.4: a 304 with another strong entity tag is about another response`() {
        for (stored, new, isSame) in [
            ("\"a\"", "\"b\"", false), ("\"a\"", "\"a\"", true), ("\"a\"", "W/\"b\"", true), ("W/\"a\"", "\"a\"", true),
        ] {
            let updated = response([.eTag: stored]).updated(by: response([.eTag: new], status: 304))
            #expect((updated != nil) == isSame, "\(stored) \(new)")
        }
    }

    @Test(arguments: ["no-store", "no-cache", "max-age=0, must-revalidate"])
    func `§4.3.4: what a 304, or a redirect to it, forbids holds for the stored response`(control: String) throws {
        let stored = response([.eTag: "\"a\"", .cacheControl: "max-age=60"])
        let redirect = HTTPResponse(status: .found, headerFields: [.cacheControl: control])
        let updates = [
            response([.cacheControl: control], status: 304, sent: 9, arrived: 9),
            StoredResponse(
                status: 304, fields: [:], requestTime: at(9), responseTime: at(9),
                redirects: RedirectChain([redirect], now: at(9))),
        ]
        for update in updates {
            let updated = try #require(stored.updated(by: update))
            #expect(updated.freshness.knownFreshUntil == at(9) && !updated.mayBeStale(at: at(9)))
        }
    }
}
