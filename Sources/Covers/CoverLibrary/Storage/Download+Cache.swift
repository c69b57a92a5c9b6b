import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader
import Platform

extension StoredVersion {
    /// An entry that does not say whose validators it has got them from its own URL, or was stored by an earlier version: then a cover that was
    /// redirected is downloaded once more.
    convenience init(_ entry: CachedEntry) {
        let fields = entry.metadata.fields
        self.init(
            conditions: StoredResponse(entry).conditions,
            place: EntryAnnotation.validatorsPlace(in: fields), digest: entry.digest,
            validatedAt: entry.validatedAt)
    }

    /// Whether the entry is still that of this version.
    func isVersion(of entry: CachedEntry) -> Bool {
        entry.digest == digest && entry.validatedAt == validatedAt
    }
}

extension Download {
    /// The version that the download revalidated.
    var storedVersion: StoredVersion? {
        switch content {
        case .cover, .notStorable: nil
        case .notModified(let version, _): version
        case .failure(_, stored: let version): version
        }
    }

    /// The changed row of a cached entry; nil if there is none, or another version has replaced the one that was revalidated.
    /// - Parameter entry: the entry now.
    func renewal(of entry: CachedEntry?, at now: Int64) -> Renewal? {
        guard let entry, let version = storedVersion, version.isVersion(of: entry) else { return nil }
        // The scheduler has checked that a 304 is about this version.
        guard case .notModified(_, let update) = content else {
            if case .failure(let failure, _) = content { return entry.failing(url, failure, at: now) }
            return nil
        }
        return StoredResponse(entry).updated(by: update).map {
            Renewal(
                entry, validatedAt: update.responseTime, freshUntil: $0.freshness.knownFreshUntil,
                fields: $0.storedFields + url.annotation + EntryAnnotation.kept(entry.metadata.fields))
        }
    }

    /// The hint to record for the URL.
    var hintChange: HintChange? {
        absence.map { absence in
            Absence(status: absence.status, until: absence.until, answeredAt: WallClock.milliseconds()).change(of: key)
        }
    }
}

extension CachedEntry {
    /// The changed row of an entry whose server does not confirm it, nor gives a new cover.
    /// - Parameters:
    ///   - url: what was requested.
    ///   - failure: A refresh counts other final answers than an absence at its end.
    func failing(_ url: HTTPURL?, _ failure: CoverFailure, at now: Int64) -> Renewal {
        var failing = failing(at: now)
        failing.count += 1
        if failure.isAbsence || failure.kind == .placeholder { failing.add(failure, at: now) }
        return renewal(failing, url)
    }

    /// The changed row of an entry whose server has answered finally without its cover.
    func answered(_ failure: CoverFailure, at now: Int64) -> Renewal {
        var failing = failing(at: now)
        // The failure may be noted already, as that of `no-store` is not.
        failing.count = max(failing.count, 1)
        failing.add(failure, at: now)
        return renewal(failing, try? metadata.url())
    }

    /// The failures so far, the last of them now.
    private func failing(at now: Int64) -> EntryAnnotation.Failing {
        var failing =
            EntryAnnotation.failures(in: metadata.fields)
            ?? EntryAnnotation.Failing(last: now, first: now, count: 0)
        failing.last = now
        return failing
    }

    /// - Parameter url: what was requested.
    private func renewal(_ failing: EntryAnnotation.Failing, _ url: HTTPURL?) -> Renewal {
        let fields =
            StoredResponse(self).storedFields + (url?.annotation ?? "") + EntryAnnotation.kept(metadata.fields)
        return Renewal(
            self, validatedAt: validatedAt, freshUntil: metadata.freshUntil,
            fields: fields + EntryAnnotation.failing(failing).line, isConfirmation: false)
    }
}

extension EntryMetadata {
    /// - Parameters:
    ///   - target: the URL that answered; nil for `url`.
    ///   - fieldNames: as `Download.fieldNames`.
    init(
        _ url: HTTPURL, _ header: ImageHeader, _ response: StoredResponse, from target: HTTPURL? = nil,
        fieldNames: [String: Set<String>] = [:]
    ) {
        self.init(
            key: url.string, mediaType: header.mediaType, width: header.width, height: header.height,
            storedAt: response.responseTime, freshUntil: response.freshness.knownFreshUntil,
            fields: response.storedFields + url.annotation)
        if let target, target.string != url.string { fields += EntryAnnotation.validatorsPlace(target.place).line }
        fields += UnkeptParts(omitsParameters: url.omitsParameters, fieldNames: fieldNames).annotations
    }

    /// The URL to request for the entry: as it was requested before, else the key.
    /// - Throws: `CoverFailure` if the key is no usable URL.
    func url() throws(CoverFailure) -> HTTPURL {
        for case .requestURL(let text) in EntryAnnotation.all(in: fields) {
            // A pack may come from anywhere, and must not lead elsewhere.
            if let url = try? HTTPURL(text), url.string == key { return url }
        }
        return try HTTPURL(location: key, ignoring: [])
    }
}

extension HTTPURL {
    /// The line of an entry's fields that keeps what is requested; empty if that is the key. Parameters that the key omits are not kept: they may be
    /// credentials (`UnkeptParts`).
    var annotation: String {
        requestURL == string || omitsParameters ? "" : EntryAnnotation.requestURL(requestURL).line
    }
}

extension StoredResponse {
    /// A cached entry as a response: covers are stored from 200 responses only.
    init(_ entry: CachedEntry) {
        self.init(
            status: 200, fields: HTTPFields(fieldLines: entry.metadata.fields), requestTime: entry.validatedAt,
            responseTime: entry.validatedAt,
            redirects: RedirectChain(
                freshUntil: entry.metadata.freshUntil,
                restrictions: EntryAnnotation.redirects(in: entry.metadata.fields)))
    }

    /// The fields that an entry stores, and what the redirects to the response say.
    fileprivate var storedFields: String {
        let restrictions = redirects.directives.restrictions
        return keptFields + (restrictions.isEmpty ? "" : EntryAnnotation.redirects(restrictions).line)
    }
}

extension CoverOutcome {
    init(_ failure: CoverFailure, of download: Download) {
        self.init(.failed, of: download)
        fail(failure)
        self.failure?.rememberedUntil = download.absence.map { Date(milliseconds: $0.until) }
    }

    /// Of a cover that needs no transfer. - Parameter location: as the outcome names it.
    init(cached digest: Digest, _ bytes: Int, at location: String) {
        self.init(.fresh, url: location)
        (contentDigest, self.bytes) = (digest, bytes)
    }

    /// The same cover, which could not be stored.
    func failing(_ error: any Error) -> CoverOutcome {
        var failed = self
        failed.fail(CoverFailure(cache: error, url: url))
        return failed
    }
}
