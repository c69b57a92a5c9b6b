import CoverCache
import CoverLibrary
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Platform

/// The library's cache as a mirror uses it: responses by URL. Responses that arrive while the disk is busy are committed together.
actor ResponseStore {
    private struct PendingResponse {
        var metadata: EntryMetadata
        var body: [UInt8]
        var continuation: CheckedContinuation<Bool, Never>
    }

    private nonisolated let library: LibraryAPI
    /// The fields of the library's own requests.
    private nonisolated let libraryFields: HTTPFields
    private var pending: [PendingResponse] = []
    private var isCommitting = false

    init(_ library: LibraryAPI) {
        self.library = library
        var fields = TransferRequest.coverFields
        fields[.userAgent] = library.configuration.userAgent
        libraryFields = fields
    }

    // MARK: Reading

    /// The cached responses to `url`. - Throws: `CacheError`.
    nonisolated func responses(to url: String) throws -> [CachedResponse] {
        try library.storedEntries(of: CachedResponse.keys(of: url)).map {
            CachedResponse($0, libraryFields: libraryFields)
        }
    }

    /// The verified body. Nil if it was evicted, damaged or replaced since the response was read. - Throws: `CacheError`.
    nonisolated func body(of cached: CachedResponse) async throws -> [UInt8]? {
        try await library.storedBody(of: cached.entry)
    }

    // MARK: Writing

    /// Stores a response in place of the one that answers the same requests. Returns when it is committed; false if it could not be
    /// stored.
    nonisolated func store(
        _ response: StoredResponse, _ body: [UInt8], of url: String, requestFields: HTTPFields
    ) async -> Bool {
        let image = body.withUnsafeBytes { ImageHeader($0) }
        let isCover = image != nil && response.status == 200 && !response.fields.contains(.vary)
        guard let key = isCover ? url : try? variantKey(of: url, requestFields) else { return false }
        var metadata = CachedResponse.metadata(
            of: response, requestFields: requestFields, key: key,
            mediaType: image?.mediaType ?? response.fields[.contentType] ?? "application/octet-stream",
            width: image?.width, height: image?.height)
        if requestFields.haveCredentials { metadata.fields += EntryAnnotation.credentials.line }
        let isStored = await commit(metadata, body)
        if isStored, isCover { library.putIntoTier(url) }
        return isStored
    }

    /// The key of the variant that a response replaces: the one that answers the same requests, else a free one, else the oldest.
    private nonisolated func variantKey(of url: String, _ requestFields: HTTPFields) throws -> String {
        let variants = try responses(to: url).filter { !$0.entry.isCover }
        if let same = CachedResponse.select(variants, for: requestFields) { return same.key }
        let used = Set(variants.map(\.key))
        let keys = CachedResponse.variantKeys(of: url).map(\.text)
        return keys.first { !used.contains($0) }
            ?? variants.min { $0.response.responseTime < $1.response.responseTime }?.key ?? keys[0]
    }

    private func commit(_ metadata: EntryMetadata, _ body: [UInt8]) async -> Bool {
        await withCheckedContinuation { continuation in
            pending.append(PendingResponse(metadata: metadata, body: body, continuation: continuation))
            if !isCommitting {
                isCommitting = true
                Task { await commitPending() }
            }
        }
    }

    private func commitPending() async {
        while !pending.isEmpty {
            let group = pending
            pending = []
            let isStored = await library.store(group.map { ($0.metadata, $0.body) })
            for (response, isStored) in zip(group, isStored) { response.continuation.resume(returning: isStored) }
        }
        isCommitting = false
    }

    /// Records that a response was validated, with its updated fields. False if it could not be.
    nonisolated func update(_ cached: CachedResponse, to response: StoredResponse) async -> Bool {
        await library.renew([Renewal(cached.entry, cached.metadata(updatedTo: response))])
    }

    /// Marks the responses to `urls` invalid: they are validated before they are used again (RFC 9111 section 4.4). Their bodies
    /// stay, as a 304 usually follows.
    nonisolated func invalidate(_ urls: [String]) async {
        let now = WallClock.milliseconds()
        let responses = urls.flatMap { (try? self.responses(to: $0)) ?? [] }
        if responses.isEmpty { return }
        _ = await library.renew(responses.map { Renewal($0.entry, $0.metadata(invalidAt: now)) })
    }
}
