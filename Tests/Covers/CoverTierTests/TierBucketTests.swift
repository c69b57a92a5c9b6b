import CoverCache
import CurlHTTP
import Foundation
import HTTPTypes
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverTier

/// The storage against a server that keeps objects in memory. `Tests/Programs/Cluster/tiers.py` has real ones.
@Suite(.timeLimit(.minutes(10))) struct TierBucketTests {
    private static let secret = "aSecretOfTheTestsWhichNobodyMayRead"

    private func cover(
        _ body: String, url: String = "https://a.example/1.jpg?sig=%20", fields: String = "etag: \"1\"\n"
    ) -> TierCover {
        TierCover(
            EntryMetadata(
                key: url, mediaType: "image/jpeg", width: 500, height: 400, storedAt: 1_764_000_000_000,
                freshUntil: 1_764_000_360_000, fields: fields),
            Digest(of: body.utf8), body: Array(body.utf8))
    }

    private func bucket(at url: String, _ variables: [String: String] = [:]) throws -> TierBucket {
        let environment = [
            "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": Self.secret,
        ].merging(variables) { $1 }
        return try TierBucket(
            "s3://covers/p", HTTPClientConfiguration(userAgent: "Sleeve/test"),
            environment: { environment[$0] })
    }

    @Test func `a cover comes back as it was put, and its object is a picture to every other program`() async throws {
        try await withObjects { server, objects in
            let bucket = try bucket(at: server.url, ["AWS_SESSION_TOKEN": "token"])
            let cover = cover("picture")
            #expect(try await bucket.cover(for: cover.key) == nil)
            try await bucket.put(cover)
            let path = "/covers/p/v1/\(cover.key.hash.prefix(2))/\(cover.key.hash)"
            #expect(objects.all.keys.sorted() == [path])
            #expect(objects.all[path]?.body == cover.body && objects.all[path]?.type == "image/jpeg")
            let read = try await bucket.cover(for: cover.key)
            #expect(read?.body == cover.body && read?.entry == cover.entry)
            let put = try #require(server.requests.first { $0.head.hasPrefix("PUT") })
            #expect(put.field("x-amz-content-sha256") == cover.entry.digest.description)
            let checksum = cover.entry.digest.withUnsafeBytes { Data($0).base64EncodedString() }
            #expect(put.field("x-amz-checksum-sha256") == checksum)
            #expect(server.requests.allSatisfy { $0.field("x-amz-security-token") == "token" })
        }
    }

    @Test func `objects that are rotten, cut off, of another key or without an entry are damaged`() async throws {
        try await withObjects { server, objects in
            let bucket = try bucket(at: server.url)
            let covers = [cover("picture"), cover("another", url: "https://a.example/2.jpg")]
            for cover in covers { try await bucket.put(cover) }
            let paths = covers.map { "/covers/p/v1/\($0.key.path)" }
            let changes: [(inout StoredObject) -> Void] = [
                { $0.body[0] ^= 1 }, { $0.body.removeLast() }, { $0.body += [0] }, { $0.entry = nil },
                { $0.entry = "1 e30=" },
                { $0.entry = $0.entry.map { "2" + $0.dropFirst() } }, { $0.entry = "1 *" },
                { $0 = objects.all[paths[1]] ?? $0 },
            ]
            let whole = try #require(objects.all[paths[0]])
            for change in changes {
                var object = whole
                change(&object)
                objects.put(object, at: paths[0])
                let error = await #expect(throws: TierError.self) { try await bucket.cover(for: covers[0].key) }
                guard case .damaged = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
            try await bucket.put(covers[0])
            #expect(try await bucket.cover(for: covers[0].key)?.body == covers[0].body)
        }
    }

    @Test(arguments: [
        (400, "BadDigest", "refused", "refused"), (403, "InvalidAccessKeyId", "refused", "refused"),
        (403, "AccessDenied", "refused", "refused"), (404, "NoSuchKey", "missing", "refused"),
        (404, "NoSuchBucket", "refused", "refused"), (301, "PermanentRedirect", "refused", "refused"),
        (507, "XMinioStorageFull", "full", "full"), (403, "QuotaExceeded", "full", "full"),
        (503, "SlowDown", "unreachable", "unreachable"),
        (429, "TooManyRequests", "unreachable", "unreachable"), (409, "OperationAborted", "unreachable", "unreachable"),
        (400, "RequestTimeout", "unreachable", "unreachable"), (403, "SlowDown", "unreachable", "unreachable"),
    ])
    func `what a server answers has one meaning, is not repeated, and is named`(
        status: Int, code: String, get: String, put: String
    ) async throws {
        // Servers repeat what was signed, and with what.
        let body = "<Error><Code>\(code)</Code><Message>\(Self.secret)</Message></Error>"
        try await withScriptedServer { _ in
            httpResponse("\(status) No", [], Array(body.utf8))
        } _: { server in
            let bucket = try bucket(at: server.url)
            let cover = cover("picture")
            #expect(await kind { if try await bucket.cover(for: cover.key) == nil { throw Missing() } } == get)
            #expect(await kind { try await bucket.put(cover) } == put)
            let endsPuts = ["InvalidAccessKeyId", "NoSuchBucket", "PermanentRedirect"].contains(code)
            #expect(server.requests.count == (endsPuts ? 1 : 2), "refused keys are refused for every cover")
            let error = await #expect(throws: TierError.self) { try await bucket.put(cover) }
            let text = error?.description ?? ""
            #expect(text.hasPrefix("the server answered \(status) \(code)"), "\(text)")
            #expect(!text.contains(Self.secret))
        }
    }

    @Test func `the start writes the version, which is read where nothing may be written`() async throws {
        try await withObjects { server, objects in
            let bucket = try bucket(at: server.url)
            #expect(await kind { try await bucket.check(isReadOnly: true) } == "refused")
            try await bucket.check(isReadOnly: false)
            #expect(objects.all["/covers/p/sleeve-tier"]?.body == Array(Tier.format.utf8))
            let puts = server.requests.count { $0.head.hasPrefix("PUT") }
            try await bucket.check(isReadOnly: true)
            try await bucket.check(isReadOnly: false)
            #expect(server.requests.count { $0.head.hasPrefix("PUT") } == puts)
            objects.put(StoredObject(body: Array("sleeve tier 2\n".utf8)), at: "/covers/p/sleeve-tier")
            #expect(await kind { try await bucket.check(isReadOnly: true) } == "otherVersion")
            #expect(await kind { try await bucket.check(isReadOnly: false) } == "otherVersion")
        }
    }

    @Test func `a writer without the right to list finds its bucket usable`() async throws {
        let denial = httpResponse("403 Forbidden", [], Array("<Code>AccessDenied</Code>".utf8))
        try await withScriptedServer {
            $0.head.hasPrefix("GET") ? denial : httpResponse("200 OK")
        } _: { server in
            let bucket = try bucket(at: server.url)
            try await bucket.check(isReadOnly: false)
            #expect(await kind { try await bucket.check(isReadOnly: true) } == "refused")
        }
    }

    @Test func `after a put that is refused, others fail without a request`() async throws {
        let denial = httpResponse("403 Forbidden", [], Array("<Code>ExpiredToken</Code>".utf8))
        try await withScriptedServer { _ in
            denial
        } _: { server in
            let bucket = try bucket(at: server.url)
            for _ in 0..<5 { #expect(await kind { try await bucket.put(cover("picture")) } == "refused") }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `an object that is refused says nothing about the others`() async throws {
        let denial = httpResponse("403 Forbidden", [], Array("<Code>AccessDenied</Code>".utf8))
        let refused = cover("picture")
        try await withScriptedServer { request in
            request.head.contains(refused.key.hash) ? denial : httpResponse("200 OK")
        } _: { server in
            let bucket = try bucket(at: server.url)
            for _ in 0..<2 { #expect(await kind { try await bucket.put(refused) } == "refused") }
            try await bucket.put(cover("another", url: "https://a.example/2.jpg"))
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: [
        ("400 Bad Request", "InvalidArgument"), ("400 Bad Request", "InvalidRequest"), ("400 Bad Request", ""),
        ("501 Not Implemented", "NotImplemented"), ("403 Forbidden", "SignatureDoesNotMatch"),
    ])
    func `a server that rejects the field of the checksum gets covers without it, from the second on at once`(
        status: String, code: String
    ) async throws {
        let refusal = httpResponse(status, [], Array("<Code>\(code)</Code>".utf8))
        try await withScriptedServer { request in
            request.field("x-amz-checksum-sha256") == nil ? httpResponse("200 OK") : refusal
        } _: { server in
            let bucket = try bucket(at: server.url)
            for _ in 0..<3 { try await bucket.put(cover("picture")) }
            #expect(server.requests.count == 4)
            #expect(server.requests.allSatisfy { $0.head.lowercased().contains("x-amz-content-sha256") })
        }
    }

    @Test func `a server that has no part for covers is named with its answer`() async throws {
        try await withScriptedServer { _ in
            httpResponse("501 Not Implemented", [], Array("<Code>NotImplemented</Code>".utf8))
        } _: { server in
            let bucket = try bucket(at: server.url)
            let error = await #expect(throws: TierError.self) { try await bucket.put(cover("picture")) }
            #expect(error == .refused("the server answered 501 NotImplemented"))
        }
    }

    @Test(arguments: ["http://nas/covers", "s3:/covers", "S3://covers", "file:///mnt/nas"])
    func `a location that is neither a directory nor a bucket is named`(location: String) {
        let error = #expect(throws: TierError.self) {
            try Tier.storage(at: location, HTTPClientConfiguration(userAgent: "Sleeve/test"))
        }
        #expect(error?.description.contains("s3://BUCKET/PREFIX") == true)
    }

    @Test func `the variable of an unusable server is named`() throws {
        let error = #expect(throws: TierError.self) { try bucket(at: "http://a", ["AWS_ENDPOINT_URL_S3": "nas:8333"]) }
        #expect(error?.description.contains("AWS_ENDPOINT_URL_S3") == true)
    }

    @Test func `a server that is not there is named`() async throws {
        let port = try closedPort()
        let bucket = try bucket(at: "http://127.0.0.1:\(port)")
        let error = await #expect(throws: TierError.self) { try await bucket.check(isReadOnly: false) }
        #expect(error?.description.contains("127.0.0.1") == true)
    }

    @Test func `an entry that is too long loses fields; one whose URL is too long is not shared`() async throws {
        try await withObjects { server, objects in
            let bucket = try bucket(at: server.url)
            let kept = "ETag: \"1\"\ncache-control: max-age=60\nimage incomplete: yes\n"
            let long = cover("picture", fields: "x-long: \(String(repeating: "x", count: 1_500))\n" + kept)
            try await bucket.put(long)
            let read = try #require(try await bucket.cover(for: long.key))
            #expect(read.entry.metadata.fields == kept && read.body == long.body)
            var longest = 0
            for length in stride(from: 1_000, to: 1_400, by: 8) {
                let cover = cover(
                    "picture", url: "https://a.example/\(String(repeating: "x", count: length))", fields: "")
                do throws(TierError) {
                    try await bucket.put(cover)
                    longest = length
                } catch {
                    #expect(error == .unsuitable("its URL is too long"))
                    break
                }
            }
            #expect(longest > 1_000)
            let lengths = objects.all.values.compactMap { $0.entry?.utf8.count }
            #expect(lengths.max().map { $0 <= 1_900 && $0 > 1_880 } == true)
        }
    }

    private struct Address: Sendable, CustomTestStringConvertible {
        var text: String
        var environment: [String: String] = [:]
        /// Nil if it is refused.
        var url: String?
        var testDescription: String { "\(text) \(environment)" }
    }

    @Test(arguments: [
        Address(text: "s3://covers/p", url: "https://covers.s3.us-east-1.amazonaws.com/p"),
        Address(text: "s3://covers", environment: ["AWS_REGION": "b"], url: "https://covers.s3.b.amazonaws.com"),
        Address(
            text: "s3://c.d/p/q/", environment: ["AWS_DEFAULT_REGION": "a"], url: "https://s3.a.amazonaws.com/c.d/p/q"),
        Address(text: "s3://c/p", environment: ["AWS_ENDPOINT_URL": "http://nas:8333/"], url: "http://nas:8333/c/p"),
        Address(
            text: "s3://c/p", environment: ["AWS_ENDPOINT_URL": "http://a", "AWS_ENDPOINT_URL_S3": "https://b/s3"],
            url: "https://b/s3/c/p"),
        Address(text: "s3://"), Address(text: "s3:///p"), Address(text: "s3://c//p"), Address(text: "s3://c/../p"),
        Address(text: "s3://c/a b"), Address(text: "s3://key:secret@c/p"), Address(text: "s3://c/p?x"),
        Address(text: "s3://ü/p"), Address(text: "c/p"),
        Address(text: "s3://c/p", environment: ["AWS_REGION": "a:b"]),
        Address(text: "s3://c/p", environment: ["AWS_ENDPOINT_URL": "ftp://a"]),
        Address(text: "s3://c/p", environment: ["AWS_ENDPOINT_URL": "http://a/?b"]),
        Address(text: "s3://c/p", environment: ["AWS_ENDPOINT_URL": "http://user:pass@a"]),
    ])
    private func `an address is a bucket, a prefix and what the environment says`(address: Address) {
        #expect((try? BucketAddress(address.text) { address.environment[$0] })?.url == address.url)
    }

    @Test func `without keys no bucket is used`() throws {
        for missing in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            let error = #expect(throws: TierError.self) { try bucket(at: "http://a", [missing: ""]) }
            #expect(error?.description.contains("AWS_SECRET_ACCESS_KEY are not set") == true)
        }
    }

    private struct Missing: Error {}

    /// The name of the case of the `TierError` that is thrown.
    private func kind(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "none"
        } catch let error as TierError {
            return String("\(Mirror(reflecting: error).children.first?.label ?? "")")
        } catch {
            return error is Missing ? "missing" : "\(error)"
        }
    }
}

private struct StoredObject {
    var body: [UInt8]
    var type = ""
    /// The value of `x-amz-meta-sleeve`.
    var entry: String?
}

/// The objects of a server, by the path of their URL.
private final class StoredObjects: Sendable {
    private let objects = Mutex<[String: StoredObject]>([:])
    var all: [String: StoredObject] { objects.withLock { $0 } }

    func put(_ object: StoredObject, at path: String) { objects.withLock { $0[path] = object } }

    func answer(_ request: ScriptedServer.Request) -> [UInt8] {
        if request.head.hasPrefix("PUT ") {
            let type = request.field("Content-Type") ?? ""
            put(
                StoredObject(body: request.body, type: type, entry: request.field("x-amz-meta-sleeve")),
                at: request.target)
            return httpResponse("200 OK")
        }
        guard let object = all[request.target] else {
            return httpResponse("404 Not Found", [], Array("<Error><Code>NoSuchKey</Code></Error>".utf8))
        }
        return httpResponse("200 OK", object.entry.map { ["X-Amz-Meta-Sleeve: \($0)"] } ?? [], object.body)
    }
}

private func withObjects(_ body: (ScriptedServer, StoredObjects) async throws -> Void) async throws {
    let objects = StoredObjects()
    try await withScriptedServer {
        objects.answer($0)
    } _: {
        try await body($0, objects)
    }
}
