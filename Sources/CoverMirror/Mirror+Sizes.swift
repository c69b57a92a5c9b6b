import CoverLibrary
import HTTPCaching
import HTTPTypes
import Platform
import ServerChannels

/// Cached covers in smaller sizes: `/covers/DIGEST?w=300`, as in the gallery. The mirror answers such a path itself if the cache has a cover with
/// this digest; the digest is all that a client needs to know. Other paths, and other queries, are the origin's.
extension Mirror {
    /// - Returns: nil if the request is for the origin.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    func sizeResponse(to request: MirrorRequest) async throws(CoverFailure) -> MirrorResponse? {
        guard request.isCacheable, let (digest, text) = Self.size(in: request.target) else { return nil }
        guard let size = KeptSize(text) else {
            guard try await library.cachedCover(digest: digest) != nil else { return nil }
            return .generated(400, KeptSize.expected)
        }
        guard let held = await responseBytes.reserve(Self.largestUsual) else {
            return .busy("too many clients take their responses slowly")
        }
        guard let cover = try await library.cachedCover(digest: digest, longestSide: size.longestSide) else {
            return nil
        }
        guard held.resize(to: cover.data.count) else { return .busy("too many clients take their responses slowly") }
        let (body, now) = (Array(cover.data), WallClock.milliseconds())
        let response = StoredResponse(
            status: 200,
            fields: [
                .contentType: cover.mediaType, .date: HTTPDate.text(now / 1_000),
                // The path names these bytes for ever (RFC 8246).
                .cacheControl: "private, max-age=31536000, immutable",
                .eTag: size.tag(of: cover, digest: digest),
            ], requestTime: now, responseTime: now)
        let isHead = request.method == .head
        return ConditionalResponse.make(
            response, body: isHead ? [] : body, length: isHead ? body.count : nil, for: request
        ).with(.hit, holding: held)
    }

    /// The room that is reserved for a cover while it is read, in bytes.
    private static let largestUsual = 32 << 20

    /// The digest and the size that a target in origin form names; nil for another target.
    private static func size(in target: String) -> (digest: String, size: Substring)? {
        let (prefix, query) = ("/covers/", "?w=")
        let digest = target.dropFirst(prefix.count).prefix(64)
        guard target.hasPrefix(prefix), Digest(String(digest)) != nil, target[digest.endIndex...].hasPrefix(query)
        else {
            return nil
        }
        return (String(digest), target[digest.endIndex...].dropFirst(query.count))
    }
}
