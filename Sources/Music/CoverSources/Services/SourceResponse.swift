import Platform

/// A response of a source, as far as sources read it.
package struct SourceResponse: Sendable, Hashable {
    /// The longest body that is read, in bytes.
    package static let maximumSize = 1 << 20

    /// The HTTP status.
    package var status: Int
    /// What `Retry-After` asks for.
    package var retryAfter: Duration?
    package var body: [UInt8]

    package init(status: Int, retryAfter: Duration? = nil, body: [UInt8] = []) {
        (self.status, self.retryAfter, self.body) = (status, retryAfter, body)
    }
}

/// What a source's response says.
enum SourceReading: Sendable, Hashable {
    /// Albums, not compared yet with the one that is wanted.
    case found([SourceCandidate])
    /// The source has no such album.
    case notFound
    /// The source asks for fewer requests. It says nothing about the album.
    case throttled(String)
    /// The response cannot be used. It says nothing about the album.
    case failed(String)
    /// The source does not serve the person, such as with this key. Other requests are in vain.
    case refused(String)

    /// The reading of a status other than 200, which sources have in common; nil for 200.
    init?(_ response: SourceResponse, throttling: Set<Int> = [], refusing: Set<Int> = []) {
        switch response.status {
        case 200: return nil
        case 429, 503: self = .throttled("HTTP \(response.status)")
        case let status where throttling.contains(status): self = .throttled("HTTP \(status)")
        case let status where status == 401 || refusing.contains(status): self = .refused("HTTP \(status)")
        case let status: self = .failed("HTTP \(status)")
        }
    }

    /// The reading of the response to a search.
    static func search<Answer: Decodable>(
        _ response: SourceResponse, throttling: Set<Int> = [], refusing: Set<Int> = [],
        _ read: (Answer) -> SourceReading
    ) -> SourceReading {
        if let reading = SourceReading(response, throttling: throttling, refusing: refusing) { return reading }
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
        return answer.map(read) ?? .failed("the answer is not that of a search")
    }

    /// The albums that were found.
    var albums: [SourceCandidate] { if case .found(let albums) = self { albums } else { [] } }

    /// Why it says nothing about the album; nil if it does.
    var failure: (kind: SourceAnswer.Kind, detail: String)? {
        switch self {
        case .found, .notFound: nil
        case .throttled(let detail): (.throttled, detail)
        case .failed(let detail), .refused(let detail): (.failed, detail)
        }
    }

    /// The reading of an album's details: what `read` makes of the answer, and nothing new if the service has none.
    static func details<Answer: Decodable>(
        _ response: SourceResponse, of source: SourceName, throttling: Set<Int> = [], refusing: Set<Int> = [],
        _ read: (Answer) -> (album: AlbumQuery, pictures: [String])
    ) -> SourceReading {
        if [400, 404, 410].contains(response.status) { return .notFound }
        if let reading = SourceReading(response, throttling: throttling, refusing: refusing) { return reading }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)) else {
            return .failed("the answer describes no album")
        }
        let (album, pictures) = read(answer)
        return .found([SourceCandidate(source: source, album: album, pictures: pictures)])
    }

    init(_ candidates: [SourceCandidate]) { self = candidates.isEmpty ? .notFound : .found(candidates) }
}

/// An array of a source's answer without the elements that have another form: one odd album costs only itself.
struct LenientArray<Element: Decodable>: Decodable {
    private struct Lenient: Decodable {
        var value: Element?
        init(from decoder: any Decoder) throws { value = try? Element(from: decoder) }
    }

    var values: [Element]

    init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([Lenient].self).compactMap(\.value)
    }
}
