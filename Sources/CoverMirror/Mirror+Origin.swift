import CoverCache
import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform
import Synchronization

/// Asking the origin for what a GET or a HEAD wants.
extension Mirror {
    /// The answer after the origin has been asked.
    func fetched(
        _ request: MirrorRequest, _ url: HTTPURL, _ held: HeldResponse?, ifError: Bool,
        _ why: CacheStatus.Forwarding, _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws -> MirrorAnswer {
        if ifError, let held, await upstream.isDoubtful {
            // Nobody waits for an origin that is likely to be away; asking it beside shows whether it is back.
            await upstream.begin(url.string) { await self.bring(request, url, held, nil) }
            var status = CacheStatus.hit
            status.detail = "stale-if-error"
            if let answer = try await stored(held, request, WallClock.milliseconds(), status) { return answer }
        }
        if request.method == .head { return try await head(request, url, held, ifError: ifError, why, interim) }
        if largeBodies.withLock({ $0.contain(url.string) }) {
            return try await through(request, url, ifError ? held : nil, .forwarded(why))
        }
        var (upshot, isCollapsed) = await upstream.upshot(of: url.string) {
            await self.bring(request, url, held, interim)
        }
        if isCollapsed, !upshot.answers(request) {
            // What the other got is not for this one.
            upshot = await bring(request, url, held, interim)
            isCollapsed = false
        }
        var status = CacheStatus.forwarded(why)
        status.isCollapsed = isCollapsed
        switch upshot {
        case .failure(.transfer(let error)) where error.kind == .tooLarge:
            return try await through(request, url, ifError ? held : nil, status)
        case .failure(let error):
            return try await failed(error, request, ifError ? held : nil, status)
        case .response(let response, _, _, _, _, _) where response.isServerError && ifError:
            guard let held else { break }
            status.forwardStatus = response.status
            status.detail = "stale-if-error"
            if let answer = try await stored(held, request, WallClock.milliseconds(), status) { return answer }
        default: break
        }
        guard case .response(let response, let body, _, _, let isStored, let origin) = upshot else {
            return .own(502, "the origin's answer is lost", status)
        }
        status.isStored = isStored
        let answer = Presentation.answer(response, body: Array(body.bytes), to: request)
        if origin != answer.head.status.code { status.forwardStatus = origin }
        return answer.with(status)
    }

    /// What is larger than is kept passes through; what part of it the client wants, or whether any, the origin judges.
    private func through(
        _ request: MirrorRequest, _ url: HTTPURL, _ held: HeldResponse?, _ status: CacheStatus
    ) async throws -> MirrorAnswer {
        do throws(OriginFailure) {
            let (head, body) = try await upstream.pass(url, request.forwarded(by: pseudonym)) { head, length in
                // It has become small enough to be kept: from the next request on it is.
                if head.status == .ok, length <= self.largestBody {
                    self.largeBodies.withLock { $0.remove(url.string) }
                }
            }
            var status = status
            status.detail = TransferError.Kind.tooLarge.rawValue
            return MirrorAnswer(status: head.status.code, fields: head.headerFields.endToEnd, passing: body)
                .with(status)
        } catch {
            return try await failed(error, request, held, status)
        }
    }

    /// What stands in for an origin that cannot be reached.
    private func failed(
        _ failure: OriginFailure, _ request: MirrorRequest, _ held: HeldResponse?, _ status: CacheStatus
    ) async throws -> MirrorAnswer {
        var status = status
        if let held {
            status.detail = "stale-if-error"
            if let answer = try await stored(held, request, WallClock.milliseconds(), status) { return answer }
        }
        return Self.problem(failure, status)
    }

    /// 504 where no answer came in time or nobody is there (RFC 9110 §15.6.5), 502 where it was none that can be used (§15.6.3);
    /// when the origin is not asked at the moment, when to try again (§10.2.3).
    static func problem(_ failure: OriginFailure, _ status: CacheStatus) -> MirrorAnswer {
        var status = status
        switch failure {
        case .transfer(let error):
            status.detail = error.kind.rawValue
            return switch error.kind {
            case .nameResolution, .connect, .timeout, .cancelled:
                .own(504, "the origin cannot be reached: \(error.detail)", status)
            case .broken, .tls, .tooLarge, .truncated, .tooManyRedirects, .refusedAddress:
                .own(502, "the origin's answer cannot be used: \(error.detail)", status)
            }
        case .closed(let closed):
            // Nothing was forwarded.
            status.forwarding = nil
            status.detail = closed.isAsked ? "retry-after" : "given-up"
            let why =
                closed.isAsked
                ? "the origin has asked to be left alone" : "the origin has failed several times in a row"
            let seconds = max(1, Int((closed.wait / .seconds(1)).rounded(.up)))
            var answer = MirrorAnswer.own(504, "\(why); try again in \(seconds) s", status)
            answer.head.headerFields[.retryAfter] = String(seconds)
            return answer
        }
    }

    /// Asks the origin for the whole, or whether what is held still stands, and keeps what may be kept.
    func bring(
        _ request: MirrorRequest, _ url: HTTPURL, _ held: HeldResponse?,
        _ interim: (@Sendable (HTTPResponse) -> Void)?
    ) async -> Upshot {
        var question = request.forwarded(by: pseudonym)
        question.method = .get
        // The whole is asked for, so that it can be kept; the client's part and conditions are answered from it.
        for name in [HTTPField.Name.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { question.fields[name] = nil }
        if let held { for field in held.response.conditions { question.fields.append(field) } }
        do {
            let (response, body) = try await upstream.exchange(url, question, interim: interim)
            if response.status == 304, let held {
                if let upshot = try await renewed(held, by: response, request, url) { return upshot }
                // It is about another response, or what it is about has gone: all of it has to come.
                return await bring(request, url, nil, interim)
            }
            let directives = request.directives
            let isShared = response.isStorable(request: directives)
            let keepsOld = held.map { response.isServerError && $0.response.isWorthKeepingStale } ?? false
            var isStored = false
            if isShared, response.isWorthKeeping, !keepsOld {
                isStored = await shelf.keep(response, body, of: url.string, asked: request.fields)
            } else if held != nil, response.replacesOthers {
                // It is what counts from now on, though it must not be kept (RFC 9111 §4.3.3).
                await invalidate([url.string])
            }
            return .response(
                response, body, asked: request.fields, isShared: isShared, isStored: isStored, origin: response.status)
        } catch let failure as OriginFailure {
            if case .transfer(let error) = failure, error.kind == .tooLarge {
                largeBodies.withLock { $0.insert(url.string) }
                // What is held is no longer what the resource is (RFC 9111 §4.3.3).
                if held != nil { await invalidate([url.string]) }
            }
            return .failure(failure)
        } catch {
            return .failure(.transfer(TransferError(.cancelled, url: url.string, detail: "\(error)")))
        }
    }

    /// What a 304 leaves in place of the stored response (RFC 9111 §4.3.4); nil when nothing can be made of it.
    private func renewed(
        _ held: HeldResponse, by notModified: StoredResponse, _ request: MirrorRequest, _ url: HTTPURL
    ) async throws -> Upshot? {
        guard
            let response = held.response.updated(
                by: notModified.fields, requestTime: notModified.requestTime, responseTime: notModified.responseTime),
            let body = try await shelf.body(of: held)
        else { return nil }
        let isStorable = response.isStorable()
        var isStored = false
        if !isStorable {
            // The server has changed its mind (RFC 9111 §5.2.2.5).
            await invalidate([url.string])
        } else if !request.directives.noStore {
            isStored = await shelf.renew(held, as: response)
        }
        return .response(
            response, ResponseBody(body), asked: request.fields, isShared: isStorable, isStored: isStored, origin: 304)
    }

    /// A HEAD is asked as it is; what it says renews what is stored, or shows that it is old (RFC 9111 §4.3.5).
    private func head(
        _ request: MirrorRequest, _ url: HTTPURL, _ held: HeldResponse?, ifError: Bool,
        _ why: CacheStatus.Forwarding, _ interim: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws -> MirrorAnswer {
        let status = CacheStatus.forwarded(why)
        do {
            let (response, _) = try await upstream.exchange(
                url, request.forwarded(by: pseudonym), interim: interim)
            if let held, response.status == 200 {
                if let updated = held.updated(byHead: response), updated.isStorable() {
                    _ = await shelf.renew(held, as: updated)
                    return Presentation.answer(updated, body: [], length: held.entry.bytes, to: request).with(status)
                } else {
                    await invalidate([url.string])
                }
            }
            return MirrorAnswer(status: response.status, fields: response.fields).with(status)
        } catch let failure as OriginFailure {
            return try await failed(failure, request, ifError ? held : nil, status)
        }
    }
}

extension Upshot {
    /// Whether it may answer one who asked while it was on its way.
    fileprivate func answers(_ request: MirrorRequest) -> Bool {
        switch self {
        case .failure: true
        case .response(let response, _, let asked, let isShared, _, _):
            isShared && Variance.matches(response.fields[values: .vary], stored: asked, asked: request.fields)
        }
    }
}

extension HeldResponse {
    /// RFC 9111 §4.3.5: nil when the answer to a HEAD is about another response.
    fileprivate func updated(byHead head: StoredResponse) -> StoredResponse? {
        for name in [HTTPField.Name.eTag, .lastModified] {
            if let told = head.fields[name], told != response.fields[name] { return nil }
        }
        if let length = head.fields[.contentLength], length != String(entry.bytes) { return nil }
        return response.updated(by: head.fields, requestTime: head.requestTime, responseTime: head.responseTime)
    }
}
