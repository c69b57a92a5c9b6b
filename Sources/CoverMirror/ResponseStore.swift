import CoverCache
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Platform

/// The cache as a mirror sees it: responses by URL.
///
/// What is kept is committed before `keep` returns. What comes while the disk is busy is committed together: one sync for all.
actor MirrorShelf {
    private struct Waiting {
        var metadata: EntryMetadata
        var body: ResponseBody
        var continuation: CheckedContinuation<Bool, Never>
    }

    private nonisolated let library: LibraryAPI
    /// What the library's own requests say.
    private nonisolated let own: HTTPFields
    private var waiting: [Waiting] = []
    private var isBusy = false

    init(_ library: LibraryAPI) {
        self.library = library
        own = [.accept: "image/*", .userAgent: library.configuration.userAgent]
    }

    // MARK: Reading

    /// What is held of `url`. - Throws: `CacheError`.
    nonisolated func held(_ url: String) throws -> [HeldResponse] {
        try HeldResponse.keys(of: url).compactMap { key in
            try library.reader.entry(for: key).map { HeldResponse($0, own: own) }
        }
    }

    /// The response with its bytes, verified; nil when it is gone or has been replaced meanwhile.
    nonisolated func body(of held: HeldResponse) async throws -> [UInt8]? {
        switch try library.reader.cover(for: held.key) {
        case .hit(let entry, let body):
            library.passUsageOn(ofAtLeast: 1_024)
            return entry.digest == held.entry.digest && entry.row == held.entry.row ? body : nil
        case .miss: return nil
        case .damaged(let segment, let offset):
            try? await library.persistency.withWriter { try $0.drop(held.key, segment: segment, offset: offset) }
            return nil
        }
    }

    // MARK: Keeping

    /// Keeps a response, in place of the one that answers the same requests. False: it could not be.
    nonisolated func keep(
        _ response: StoredResponse, _ body: ResponseBody, of url: String, asked: HTTPFields
    ) async -> Bool {
        guard let metadata = try? metadata(of: response, body, url, asked) else { return false }
        return await put(metadata, body)
    }

    private nonisolated func metadata(
        of response: StoredResponse, _ body: ResponseBody, _ url: String, _ asked: HTTPFields
    ) throws -> EntryMetadata {
        let image = ImageHeader(body.bytes)
        let isCover = image != nil && response.status == 200 && !response.fields.contains(.vary)
        let type = image?.mediaType ?? response.fields[.contentType] ?? "application/octet-stream"
        return HeldResponse.metadata(
            of: response, asked: asked, key: isCover ? url : try place(of: url, asked), mediaType: type,
            width: image?.width, height: image?.height)
    }

    /// Where a response to a request with these fields goes: to the one it replaces, else to a free place, else to the oldest.
    private nonisolated func place(of url: String, _ asked: HTTPFields) throws -> String {
        let places = try held(url).filter { !$0.entry.isCover }
        if let same = HeldResponse.select(places, for: asked) { return same.key }
        let taken = Set(places.map(\.key))
        let all = (1...HeldResponse.places).map { HeldResponse.place($0, of: url) }
        return all.first { !taken.contains($0) }
            ?? places.min { $0.response.responseTime < $1.response.responseTime }?.key ?? all[0]
    }

    private func put(_ metadata: EntryMetadata, _ body: ResponseBody) async -> Bool {
        await withCheckedContinuation { continuation in
            waiting.append(Waiting(metadata: metadata, body: body, continuation: continuation))
            if !isBusy {
                isBusy = true
                Task { await commitWaiting() }
            }
        }
    }

    private func commitWaiting() async {
        while !waiting.isEmpty {
            let group = waiting.map { ($0.metadata, $0.body) }, continuations = waiting.map(\.continuation)
            waiting = []
            let kept = try? await library.persistency.withWriter { try Self.write(group, $0) }
            for (index, continuation) in continuations.enumerated() {
                continuation.resume(returning: kept?[index] ?? false)
            }
        }
        isBusy = false
    }

    private static func write(_ group: [(EntryMetadata, ResponseBody)], _ writer: CacheWriter) throws -> [Bool] {
        var (kept, put) = ([Bool](), [Int]())
        func commit() throws {
            guard let sealed = writer.seal() else { return }
            defer { writer.reclaim(sealed) }
            do {
                try sealed.sync()
            } catch {
                writer.abandon(sealed)
                throw error
            }
            for (index, outcome) in zip(put, try writer.commit([sealed])) {
                if case .stored = outcome { kept[index] = true }
            }
            put = []
            try writer.makeRoom(writer.groupsToCome)
        }
        for (metadata, body) in group {
            if !put.isEmpty, writer.pendingBytes + body.count > writer.groupLimit { try commit() }
            kept.append(false)
            // One that is larger than the cache keeps no other from being kept.
            if (try? writer.put(metadata, body: body.bytes)) != nil { put.append(kept.count - 1) }
        }
        try commit()
        return kept
    }

    // MARK: Renewing

    /// Takes down that a response stands, with the fields it has now.
    nonisolated func renew(_ held: HeldResponse, as response: StoredResponse) async -> Bool {
        let metadata = held.metadata(renewedAs: response)
        return (try? await library.persistency.withWriter { try $0.renew([Renewal(held.entry, metadata)]) }) != nil
    }

    /// What is held of `urls` is validated before it is used again (RFC 9111 §4.4). The bytes stay: most often a 304 follows.
    nonisolated func invalidate(_ urls: [String]) async {
        let now = WallClock.milliseconds()
        let marked = urls.flatMap { (try? held($0)) ?? [] }.map { Renewal($0.entry, $0.metadata(invalidAt: now)) }
        if marked.isEmpty { return }
        try? await library.persistency.withWriter { try $0.renew(marked) }
    }
}
