import HTTPCaching

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
        case .failing(let failing): "\(failing.last) \(failing.first) \(failing.count)"
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
            let numbers = value.split(separator: " ").map { min(max(Int64($0) ?? 0, 0), 1 << 48) }
            guard let last = numbers.first else { return nil }
            self = .failing(
                numbers.count == 3
                    ? Failing(last: last, first: numbers[1], count: Int(numbers[2])) : Failing(last: last, first: last))
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
