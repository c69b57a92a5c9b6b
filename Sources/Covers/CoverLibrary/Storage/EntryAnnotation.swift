import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import HTTPTypes

/// A line among an entry's fields that Sleeve adds itself. Its name contains a space, which no header field's name does.
enum EntryAnnotation: Sendable, Hashable {
    /// The entry's server failed to answer the last revalidations.
    case failing(Failing)
    /// The URL as it is requested, if it is not the key.
    case requestURL(String)
    /// The validators were given by the target of a redirect with this `HTTPURL.place`, not by the entry's own URL.
    case validatorsPlace(UInt64)
    /// What the redirects to the response say of its use: `CacheDirectives.restrictions`.
    case redirects(String)
    /// The request had parameters that the key leaves out.
    case omittedParameters
    /// The request sent header fields with these names to an origin, because a caller gave them. The names are in lower case.
    case headerFields(origin: String, names: Set<String>)

    /// The failures since the last success, in milliseconds since 1970.
    struct Failing: Sendable, Hashable {
        var last: Int64
        var first: Int64
        var count = 1
        /// Those of them that are final answers about the cover (`RunAnswers`), up to the number that shows that it is gone.
        var answers = 0
        /// The last one that was counted.
        var answer: Answer?
        /// When that was.
        var answeredAt: Int64 = 0

        /// Counts a final answer.
        mutating func add(_ failure: CoverFailure, at now: Int64) {
            (answers, answer) = (min(answers + 1, Self.gone), Answer(kind: failure.kind, status: failure.status))
            answeredAt = now
        }
    }

    /// What a server answered instead of a cover.
    struct Answer: Sendable, Hashable {
        var kind: CoverFailure.Kind
        /// The HTTP status, if there is one.
        var status: Int?

        init(kind: CoverFailure.Kind, status: Int?) {
            (self.kind, self.status) = (kind, kind == .status ? status : nil)
        }

        /// - Parameter word: as `word`. Nil if it is unknown.
        fileprivate init?(_ word: Substring) {
            if let kind = CoverFailure.Kind(rawValue: String(word)) {
                self.init(kind: kind, status: nil)
            } else if let status = Int(word), (100...999).contains(status) {
                self.init(kind: .status, status: status)
            } else {
                return nil
            }
        }

        /// There is no cover, rather than none for this program.
        var isAbsence: Bool { status == 404 || status == 410 || kind == .placeholder }

        /// The status, or the kind of the failure.
        fileprivate var word: String { status.map { "\($0)" } ?? kind.rawValue }
    }

    private var name: String {
        switch self {
        case .failing: "tried at"
        case .requestURL: "request URL"
        case .validatorsPlace: "validators of"
        case .redirects: "redirected with"
        case .omittedParameters: "key omits"
        case .headerFields: "requested with"
        }
    }

    private var value: String {
        switch self {
        case .failing(let failing):
            "\(failing.last) \(failing.first) \(failing.count)"
                + (failing.answer.map { " \(failing.answers) \($0.word) \(failing.answeredAt)" } ?? "")
        case .requestURL(let value), .redirects(let value): value
        case .validatorsPlace(let place): String(place, radix: 16)
        case .omittedParameters: "parameters"
        case .headerFields(let origin, let names): ([origin] + names.sorted()).joined(separator: " ")
        }
    }

    /// The annotation as a line of `EntryMetadata.fields`, its line feed included.
    var line: String { "\(name): \(value)\n" }

    private init?(name: String, value: String) {
        switch name {
        case "tried at":
            // A pack or a damaged index holds any number.
            let words = value.split(separator: " ")
            let numbers = words.map { min(max(Int64($0) ?? 0, 0), 1 << 48) }
            guard let last = numbers.first else { return nil }
            var failing = Failing(last: last, first: last)
            if words.count >= 3 { (failing.first, failing.count) = (numbers[1], Int(numbers[2])) }
            if words.count == 6, let answer = Answer(words[4]) {
                (failing.answers, failing.answer) = (min(Int(numbers[3]), Failing.gone), answer)
                failing.answeredAt = numbers[5]
            }
            self = .failing(failing)
        case "request URL": self = .requestURL(value)
        // What is no number is no URL's: the cover is downloaded again.
        case "validators of": self = .validatorsPlace(UInt64(value, radix: 16) ?? 0)
        case "redirected with": self = .redirects(value)
        case "key omits": self = .omittedParameters
        case "requested with":
            let words = value.split(separator: " ").map(String.init)
            self = .headerFields(origin: words.first ?? "", names: Set(words.dropFirst()))
        default: return nil
        }
    }

    /// The failures of the entry's server since it has last answered.
    static func failures(in fields: String) -> Failing? {
        first(in: fields) { if case .failing(let failing) = $0 { failing } else { nil } }
    }

    /// Where the validators come from; nil for the entry's own URL.
    static func validatorsPlace(in fields: String) -> UInt64? {
        first(in: fields) { if case .validatorsPlace(let place) = $0 { place } else { nil } }
    }

    /// What the redirects to the response say; empty without any.
    static func redirects(in fields: String) -> String {
        first(in: fields) { if case .redirects(let value) = $0 { value } else { nil } } ?? ""
    }

    /// The lines that stay when the entry is renewed.
    static func kept(_ fields: String) -> String {
        all(in: fields).reduce("") { kept, annotation in
            switch annotation {
            case .validatorsPlace, .omittedParameters, .headerFields: kept + annotation.line
            case .failing, .requestURL, .redirects: kept
            }
        }
    }

    /// The value of the first annotation that has one.
    private static func first<Value>(in fields: String, _ value: (EntryAnnotation) -> Value?) -> Value? {
        all(in: fields).lazy.compactMap(value).first
    }

    /// The annotations among the lines of `fields`, in order. Unknown ones are left out.
    static func all(in fields: String) -> [EntryAnnotation] {
        fields.withBytes { lines in
            var (rest, found) = (lines, [EntryAnnotation]())
            while let line = FieldLine(&rest) {
                if !line.name.contains(UInt8(ascii: " ")) { continue }
                if let annotation = EntryAnnotation(name: line.name.string, value: line.value.string) {
                    found.append(annotation)
                }
            }
            return found
        }
    }
}

/// A remembered 404 or 410: the URL is not requested again before it expires.
struct Absence: Sendable, Hashable {
    /// The HTTP status.
    var status: Int
    /// When it expires, in milliseconds since 1970.
    var until: Int64
    /// When the server answered, in milliseconds since 1970.
    var answeredAt: Int64
}

extension Absence {
    /// Nil if the hint was recorded ahead of `now`, with a wrong clock.
    /// - Parameter now: milliseconds since 1970.
    init?(_ hint: Hint, at now: Int64) {
        let numbers = hint.value.split(separator: " ").map { Int64($0) }
        // Earlier versions recorded the status only.
        let answeredAt = numbers.count == 2 ? numbers[1] ?? .max : hint.until - NegativeCaching.maximumLifetime
        if answeredAt > now { return nil }
        let status = numbers.first.flatMap(\.self).flatMap { (100...999).contains($0) ? Int($0) : nil }
        self.init(status: status ?? 404, until: hint.until, answeredAt: answeredAt)
    }

    /// The change that records it.
    func change(of key: String) -> HintChange { .set(Hint(.absent, key, "\(status) \(answeredAt)", until: until)) }
}

/// What the request for a cover had and its entry does not keep, as it may be credentials: parameters that the key leaves out, and header
/// fields that a caller gave.
///
/// A request without them gets what the server has for strangers: a placeholder, say. So the entry says which there were, and a run
/// asks about it with all of them or not at all.
struct UnkeptParts: Sendable, Hashable {
    var omitsParameters = false
    /// As `Download.fieldNames`.
    var fieldNames: [String: Set<String>] = [:]

    /// - Parameter fields: an entry's.
    init(_ fields: String) {
        for annotation in EntryAnnotation.all(in: fields) {
            switch annotation {
            case .omittedParameters: omitsParameters = true
            case .headerFields(let origin, let names): fieldNames[origin, default: []].formUnion(names)
            case .failing, .requestURL, .validatorsPlace, .redirects: break
            }
        }
    }

    init(omitsParameters: Bool, fieldNames: [String: Set<String>]) {
        (self.omitsParameters, self.fieldNames) = (omitsParameters, fieldNames)
    }

    var isEmpty: Bool { !omitsParameters && fieldNames.isEmpty }

    /// The lines of the entry.
    var annotations: String {
        let fields = fieldNames.sorted { $0.key < $1.key }.map { EntryAnnotation.headerFields(origin: $0, names: $1) }
        return ((omitsParameters ? [.omittedParameters] : []) + fields).reduce("") { $0 + $1.line }
    }

    /// Whether a request has all of them.
    /// - Parameters:
    ///   - fields: what it sends to the origin of its URL, and to no other.
    ///   - configured: what all requests send, by origin.
    func areIn(_ url: HTTPURL, _ fields: HTTPFields, configured: [String: HTTPFields]) -> Bool {
        if omitsParameters, !url.omitsParameters { return false }
        return fieldNames.allSatisfy { origin, names in
            names.subtracting(configured[origin]?.lowercaseNames ?? [])
                .isSubset(of: origin == url.origin ? fields.lowercaseNames : [])
        }
    }
}
