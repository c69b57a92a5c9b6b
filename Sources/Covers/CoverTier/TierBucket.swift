import CoverCache
package import CurlHTTP
import HTTPTypes
import Platform
import Synchronization

/// A tier in a bucket of S3, or of a server that has its interface. A cover is one object, complete in itself, and a picture to other programs.
///
///     PREFIX/sleeve-tier        sleeve tier 1
///     PREFIX/v1/ab/abcdef…      the cover's bytes with their Content-Type, and its entry (`BucketMetadata`)
///
/// Objects are replaced without conditions: every writer of a key has a whole cover of its URL.
package final class TierBucket: TierStorage {
    private let address: BucketAddress
    private let client: HTTPClient
    /// A secret.
    private let sessionToken: String?
    private let state = Mutex(State())

    private struct State {
        /// Why all puts are refused, and until when others need not try: keys do not change while a program runs.
        var refusal: (error: TierError, end: ContinuousClock.Instant)?
        /// False: the server rejects the field `checksum`.
        var sendsChecksum = true
    }

    /// - Parameters:
    ///   - location: `s3://BUCKET/PREFIX`.
    ///   - configuration: the user agent and the certificate authorities. The rest is the bucket's own: its server is the owner's choice, at a
    ///     private address too.
    ///   - environment: the value of a variable; nil if it is not set. Keys come from nowhere else, as options are visible to others.
    /// - Throws: `TierError.refused` if the location or the environment is unusable.
    package init(
        _ location: String, _ configuration: HTTPClientConfiguration,
        environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
    ) throws(TierError) {
        func variable(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        address = try BucketAddress(location, environment: variable)
        guard let keyID = variable("AWS_ACCESS_KEY_ID"), let secret = variable("AWS_SECRET_ACCESS_KEY") else {
            throw .refused("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
        }
        sessionToken = variable("AWS_SESSION_TOKEN")
        var own = HTTPClientConfiguration(userAgent: configuration.userAgent)
        own.certificateAuthorities = configuration.certificateAuthorities
        own.signing = RequestSigning(keyID: keyID, secret: secret, region: address.region, service: "s3")
        own.connectTimeout = .seconds(2)
        own.timeout = .seconds(10)
        own.maximumBodySize = Tier.maximumCover
        do { client = try HTTPClient(configuration: own) } catch { throw .unreachable("\(error)") }
    }

    package func check(isReadOnly: Bool) async throws(TierError) {
        let name = CacheDirectory.tierFormat
        var format: [UInt8]?
        do throws(TierError) {
            format = try await send(.get, name)?.body
        } catch {
            // Without the right to list a bucket, an object that it lacks is forbidden.
            guard case .refused = error, !isReadOnly else { throw error }
        }
        if let format, !format.elementsEqual(Tier.format.utf8) {
            throw .otherVersion("\(name) is not of this version of Sleeve")
        }
        if format != nil { return }
        if isReadOnly { throw .refused("it has no \(name)") }
        _ = try await send(.put, name, [.contentType: "text/plain"], body: Array(Tier.format.utf8))
    }

    package func cover(for key: TierKey) async throws(TierError) -> TierCover? {
        guard let response = try await send(.get, "v1/\(key.path)") else { return nil }
        guard let entry = response.head.headerFields[.entry].flatMap(BucketMetadata.entry) else {
            throw .damaged("its entry is missing or damaged")
        }
        return try TierCover(entry, body: response.body, for: key)
    }

    package func put(_ cover: TierCover) async throws(TierError) {
        guard let entry = BucketMetadata.value(of: cover.entry) else { throw .unsuitable("its URL is too long") }
        let state = state.withLock { $0 }
        if let (error, end) = state.refusal, ContinuousClock.now < end { throw error }
        let type = cover.entry.metadata.mediaType
        var fields: HTTPFields = [.contentType: type.isEmpty ? "application/octet-stream" : type, .entry: entry]
        // Some servers compare the body with this only, and store wrong bytes under a right `x-amz-content-sha256`.
        if state.sendsChecksum {
            fields[.checksum] = cover.entry.digest.withUnsafeBytes { Data($0).base64EncodedString() }
        }
        _ = try await send(.put, "v1/\(cover.key.path)", fields, body: cover.body)
    }

    // MARK: Requests

    /// - Returns: nil if there is no such object.
    private func send(
        _ method: HTTPRequest.Method, _ name: String, _ fields: HTTPFields = [:], body: [UInt8]? = nil
    ) async throws(TierError) -> TransferResponse? {
        var fields = fields
        fields[.contentHash] = Digest(of: body ?? []).description
        fields[.sessionToken] = sessionToken
        guard let url = try? HTTPURL("\(address.url)/\(name)") else { throw .refused("\(address.url) is no URL") }
        let request = TransferRequest(url: url, headerFields: fields, call: .init(method: method, body: body))
        let response: TransferResponse
        do throws(TransferError) {
            response = try await client.response(for: request)
        } catch {
            if error.kind == .tooLarge { throw .damaged("it is larger than \(ByteCount(Tier.maximumCover))") }
            throw .unreachable(Redaction.redact(error.detail))
        }
        let status = response.head.status.code
        if (200..<300).contains(status) { return response }
        let code = Self.errorCode(response.body)
        if method == .get, status == 404, code != "NoSuchBucket" { return nil }
        if fields[.checksum] != nil, Self.mayReject(checksumBy: status, code) {
            fields[.checksum] = nil
            let response = try await send(method, name, fields, body: body)
            state.withLock { $0.sendsChecksum = false }
            return response
        }
        let error = Self.error(status, code)
        if Self.adviceForAll[code] != nil { state.withLock { $0.refusal = (error, .now + .seconds(60)) } }
        throw error
    }

    /// Whether a server may accept what it has refused without the field: it does not know the field, or a proxy drops it after it was signed.
    private static func mayReject(checksumBy status: Int, _ code: String) -> Bool {
        if code.contains("Digest") || code.contains("Mismatch") || transientCodes.contains(code) { return false }
        return status == 400 || status == 501 || code == "SignatureDoesNotMatch"
    }

    /// The `Code` of an error's XML. The rest may repeat credentials.
    private static func errorCode(_ body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(4_096), as: UTF8.self)
        guard let start = text.firstRange(of: "<Code>")?.upperBound else { return "" }
        let code = text[start...].prefix { $0 != "<" }
        return code.utf8.count <= 60 && code.allSatisfy { $0.isASCII && $0.isLetter } ? String(code) : ""
    }

    private static func error(_ status: Int, _ code: String) -> TierError {
        let advice = code == "AccessDenied" ? "these keys lack the right" : adviceForAll[code]
        let parts = [code.isEmpty ? "" : " \(code)", advice.map { ": \($0)" } ?? ""]
        let reason = "the server answered \(status)\(parts.joined())"
        if status == 507 || code.contains("Quota") || code.contains("StorageFull") { return .full(reason) }
        let isTransient = [408, 409, 425, 429].contains(status) || status >= 500 && status != 501
        return isTransient || transientCodes.contains(code) ? .unreachable(reason) : .refused(reason)
    }

    /// Codes that come with a 400 or a 403 from some servers.
    private static let transientCodes = ["RequestTimeout", "SlowDown", "Throttling", "ServiceUnavailable"]

    /// Codes that say something about all objects: about the keys, the bucket or the clock.
    private static let adviceForAll = [
        "AuthorizationHeaderMalformed": "the bucket is in another region than AWS_REGION",
        "ExpiredToken": "the keys have expired",
        "InvalidAccessKeyId": "AWS_ACCESS_KEY_ID is unknown there",
        "NoSuchBucket": "there is no such bucket",
        "PermanentRedirect": "the bucket is in another region than AWS_REGION",
        "RequestTimeTooSkewed": "this machine's clock is wrong",
        "SignatureDoesNotMatch": "AWS_SECRET_ACCESS_KEY is wrong",
    ]
}

extension HTTPField.Name {
    /// The cover's entry. It is the only name that begins so: libcurl before 8.10 signs two in a wrong order if one is the beginning of the other.
    fileprivate static let entry = Self("x-amz-meta-sleeve")!
    fileprivate static let contentHash = Self("x-amz-content-sha256")!
    fileprivate static let checksum = Self("x-amz-checksum-sha256")!
    fileprivate static let sessionToken = Self("x-amz-security-token")!
}
