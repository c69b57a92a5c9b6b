import CoverCache
import CoverFetch
import CoverTier
import CurlHTTP
import HTTPCaching
import HTTPTypes

/// The covers that this cache shares with others.
extension CoverPipeline {
    /// Covers that are looked up in the tier together.
    private static let maximumLookups = 32
    /// Bytes that are stored together.
    private static let groupLength = 4 << 20

    // MARK: Reading

    /// Completes the asks whose covers the tier has, which are stored in the cache. Neither asks servers, nor depends on what is known of these.
    /// - Returns: the others, and those whose servers have to be asked.
    func fetchFromTier(_ asks: [Ask]) async -> [Ask] {
        if tier == nil { return asks }
        let addresses = asks.map { ask in ask.cacheUse.asksServer ? [] : ask.addresses.map { ($0, $1.string) } }
        return zip(asks, await fetchFromTier(addresses)).compactMap { ask, outcome in
            outcome.map { ask.complete($0) } == true ? nil : ask
        }
    }

    /// Stores covers that the tier has in the cache.
    /// - Parameter covers: for each, the URLs where it may be: as written, and as keys.
    /// - Returns: for each, the outcome of its first URL that the tier has; nil if it has none.
    func fetchFromTier(_ covers: [[(location: String, key: String)]]) async -> [CoverOutcome?] {
        var outcomes = [CoverOutcome?](repeating: nil, count: covers.count)
        guard let tier else { return outcomes }
        await withTaskGroup(of: (index: Int, location: String, cover: ImportedCover)?.self) { group in
            var (found, length) = ([(index: Int, location: String, cover: ImportedCover)](), 0)
            for (count, index) in covers.indices.filter({ !covers[$0].isEmpty }).enumerated() {
                if count >= Self.maximumLookups, let next = await group.next() ?? nil {
                    found.append(next)
                    length += next.cover.body.count
                }
                if length >= Self.groupLength {
                    await store(&found, &outcomes)
                    length = 0
                }
                group.addTask { await Self.find(covers[index], in: tier).map { (index, $0, $1) } }
            }
            for await case let next? in group { found.append(next) }
            await store(&found, &outcomes)
        }
        return outcomes
    }

    private static func find(
        _ urls: [(location: String, key: String)], in tier: Tier
    ) async -> (location: String, cover: ImportedCover)? {
        for (location, key) in urls {
            guard let found = await tier.cover(for: key) else { continue }
            if let cover = try? checked(found.entry.metadata, found.body, found.entry.digest, from: "tier") {
                return (location, cover)
            }
            tier.didFindDamage()
        }
        return nil
    }

    /// A cover that cannot be stored counts as missing: its download will tell why.
    private func store(
        _ found: inout [(index: Int, location: String, cover: ImportedCover)], _ outcomes: inout [CoverOutcome?]
    ) async {
        defer { found = [] }
        guard !found.isEmpty, let stored = try? await store(found.map(\.cover)) else { return }
        for ((index, location, cover), result) in zip(found, stored) {
            switch result {
            case .failed: continue
            case .kept(let digest), .stored(let digest, _):
                var outcome = CoverOutcome(.fresh, url: location)
                (outcome.contentDigest, outcome.bytes, outcome.tier) = (digest, cover.body.count, .hit)
                outcomes[index] = outcome
            }
        }
    }

    // MARK: Putting

    /// A cover of the cache, to be put into the tier.
    /// - Throws: `TierError` if it may not be shared, or is no longer there.
    static func shared(_ found: CacheReader.Lookup?) throws(TierError) -> TierCover {
        guard case .hit(let entry, let body) = found else { throw .damaged("it is no longer in the cache") }
        let response = StoredResponse(entry)
        let isForOne =
            response.directives.isPrivate || response.redirects.directives.isPrivate
            || EntryAnnotation.haveCredentials(entry.metadata.fields)
            || !Vary.names(response.fields[values: .vary]).allSatisfy { ["accept", "accept-encoding"].contains($0) }
        if isForOne || body.count > Tier.maximumCover { throw .unsuitable("it may not be shared, or is too large") }
        let line = EntryLine(entry)
        return TierCover(line.metadata.shared, line.digest, body: body)
    }
}

extension EntryMetadata {
    /// The metadata without the fields that no cache needs, such as `Set-Cookie`: other programs, and other versions, write into a tier,
    /// and packs.
    var shared: EntryMetadata {
        var shared = self
        let response = StoredResponse(
            status: 200, fields: ResponseFields.cached(HTTPFields(fieldLines: fields)), requestTime: 0, responseTime: 0)
        shared.fields = response.keptFields + ((try? url())?.annotation ?? "")
        for annotation in EntryAnnotation.all(in: fields) {
            switch annotation {
            // A URL is kept if it leads to the same place, without credentials.
            case .requestURL: break
            case .failing, .credentials, .validatorsPlace, .redirects: shared.fields += annotation.line
            }
        }
        return shared
    }
}
