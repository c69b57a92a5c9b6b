import HTTPTypes
import NIOCore

/// Turns a request into an answer. It writes nothing and waits for nothing; `Responder` does.
struct Decision: Sendable {
    let options: OriginOptions
    let ledger: Ledger
    let studio = Studio()

    /// - Parameter number: the request's, from 1.
    func answer(_ request: HTTPRequest, path: Substring, query: Substring?, number: Int) -> Answer {
        guard request.method == .get || request.method == .head else {
            var answer = Answer.text(405, "only GET and HEAD\n")
            answer.head.headerFields[.allow] = "GET, HEAD"
            return answer
        }
        if path == "/robots.txt" {
            if let status = options.status { return failure(status, Wishes(options, number: number)) }
            if let robots = options.robots { return .text(200, robots) }
        }
        if let archive = ArchivePath(path) { return archive.answer }
        guard let resource = Resource(path: path) else { return .text(404, "there is nothing at \(path)\n") }
        var wishes = Wishes(options, number: number)
        do {
            if let query { try wishes.apply(query: query) }
        } catch {
            return .text(400, "\(error)\n")
        }
        if let times = wishes.times, ledger.attempt(request.path ?? "") > times {
            wishes.fault = nil
            wishes.status = nil
        }
        var answer = answer(request, resource, wishes)
        for field in wishes.fields { answer.head.headerFields.append(field) }
        answer.delay = wishes.delay
        answer.isHeld = wishes.isHeld
        return request.method == .head ? answer.withoutBody() : answer
    }

    private func answer(_ request: HTTPRequest, _ resource: Resource, _ wishes: Wishes) -> Answer {
        // The help page stays readable when everything else is set to fail.
        if resource != .help {
            if let fault = wishes.fault { return answer(request, resource, wishes, failing: fault) }
            if let status = wishes.status, !(200...299).contains(status) { return failure(status, wishes) }
            if let redirect = redirect(request, wishes) { return redirect }
        }
        return cover(request, studio.representation(of: resource, wishes), wishes)
    }

    private func cover(_ request: HTTPRequest, _ cover: Representation, _ wishes: Wishes) -> Answer {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .eTag, value: cover.tag))
        fields.append(HTTPField(name: .lastModified, value: HTTPDate.text(cover.modified)))
        if !wishes.cacheControl.isEmpty {
            fields.append(HTTPField(name: .cacheControl, value: wishes.cacheControl))
        }
        let length = cover.bytes.readableBytes
        let selection = Selection(request.headerFields, tag: cover.tag, modified: cover.modified, length: length)
        if selection == .notModified { return Answer(304, fields) }

        fields.append(HTTPField(name: .acceptRanges, value: "bytes"))
        fields.append(HTTPField(name: .contentType, value: wishes.type ?? cover.type))
        var status = wishes.status ?? 200
        var bytes = cover.bytes
        switch selection {
        case .whole, .notModified: break
        case .unsatisfiable:
            fields[.contentRange] = "bytes */\(length)"
            fields[.contentLength] = "0"
            return Answer(416, fields)
        case .part(let range):
            status = 206
            bytes.moveReaderIndex(forwardBy: range.lowerBound)
            bytes.moveWriterIndex(to: bytes.readerIndex + range.count)
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
        }
        if !wishes.isChunked {
            fields.append(HTTPField(name: .contentLength, value: String(bytes.readableBytes)))
        }
        if status == 204 || status == 205 { return Answer(status, fields) }
        return Answer(status, fields, .bytes(bytes, perSecond: wishes.bytesPerSecond))
    }

    private func failure(_ status: Int, _ wishes: Wishes) -> Answer {
        var answer: Answer
        if status == 304 {
            answer = Answer(304)
        } else {
            answer = .text(status, "status \(status), as asked\n")
        }
        if let retryAfter = wishes.retryAfter { answer.head.headerFields[.retryAfter] = retryAfter }
        if let target = wishes.redirectTarget { answer.head.headerFields[.location] = target }
        return answer
    }

    private func redirect(_ request: HTTPRequest, _ wishes: Wishes) -> Answer? {
        let target: String
        if let elsewhere = wishes.redirectTarget {
            target = elsewhere
        } else if wishes.redirects > 0 {
            target = Self.counted(request.path ?? "/", wishes.redirects - 1)
        } else {
            return nil
        }
        return Answer(wishes.redirectStatus, [.location: target, .contentLength: "0"])
    }

    /// The same path and query with `redirect=` set to `count`.
    private static func counted(_ target: String, _ count: Int) -> String {
        let halves = target.split(separator: "?", maxSplits: 1)
        let query = halves[1].split(separator: "&").map { $0.hasPrefix("redirect=") ? "redirect=\(count)" : $0 }
        return halves[0] + "?" + query.joined(separator: "&")
    }

    private func answer(
        _ request: HTTPRequest, _ resource: Resource, _ wishes: Wishes, failing fault: OriginFault
    ) -> Answer {
        switch fault {
        case .reset: return Answer(200, [:], .reset)
        case .close: return Answer(200, [:], .close)
        case .never: return Answer(200, [:], .never)
        case .html: return .text(200, HelpPage.portal, type: "text/html; charset=utf-8")
        case .json: return .text(200, #"{"error":"no cover here"}"#, type: "application/json")
        case .quota: return .text(200, #"{"error":"rate limit exceeded"}"#, type: "application/json")
        case .loop: return Answer(wishes.redirectStatus, [.location: request.path ?? "/", .contentLength: "0"])
        case .truncate, .wrongLength, .excess, .empty, .endless: break
        }
        let representation = studio.representation(of: resource, wishes)
        var fields: HTTPFields = [.contentType: wishes.type ?? representation.type, .eTag: representation.tag]
        var bytes = representation.bytes
        let length = bytes.readableBytes
        switch fault {
        case .truncate:
            bytes.moveWriterIndex(to: bytes.readerIndex + length / 2)
            fields[.contentLength] = String(length)
        case .wrongLength: fields[.contentLength] = String(length + 1000)
        case .excess: fields[.contentLength] = String(length / 2)
        case .empty:
            fields[.contentLength] = "0"
            return Answer(200, fields)
        default: return Answer(200, fields, .endless(bytes, perSecond: wishes.bytesPerSecond))
        }
        return Answer(200, fields, .cut(bytes))
    }
}
