import Platform

/// A place in a JSON document (RFC 6901), such as `/albums/0/cover`.
struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    private let tokens: [String]

    /// The pointer that the fragment of a URL is (section 6); nil for another text.
    init?(fragment: some StringProtocol) {
        guard let text = String(validating: PercentEncoding.decoded(fragment.utf8), as: UTF8.self),
            text.isEmpty || text.utf8.first == UInt8(ascii: "/")
        else { return nil }
        let words = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        tokens = words.map { String(Substring($0)).replacing("~1", with: "/").replacing("~0", with: "~") }
        // A tilde stands before a 0 or a 1 only.
        let escapes = text.utf8.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false).dropFirst()
        guard escapes.allSatisfy({ $0.first == UInt8(ascii: "0") || $0.first == UInt8(ascii: "1") }) else { return nil }
    }

    var description: String { tokens.map { "/\($0)" }.joined() }

    /// The text there; nil if there is nothing, or null.
    /// - Throws: `DecodingError.typeMismatch` for another value, other errors for what is no JSON.
    func text(in document: Data) throws -> String? {
        let decoder = JSONDecoder()
        decoder.userInfo[Self.tokensKey] = tokens
        return try decoder.decode(Place.self, from: document).text
    }

    private static let tokensKey = CodingUserInfoKey(rawValue: "tokens").unsafelyUnwrapped

    private struct Place: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws {
            var place = decoder
            for token in decoder.userInfo[JSONPointer.tokensKey] as? [String] ?? [] {
                if let object = try? place.container(keyedBy: Name.self) {
                    guard object.contains(Name(stringValue: token)) else { return }
                    place = try object.superDecoder(forKey: Name(stringValue: token))
                } else {
                    // An index has no zeros in front (section 4).
                    guard var array = try? place.unkeyedContainer(), let index = Int(token), "\(index)" == token,
                        (0..<(array.count ?? 0)).contains(index)
                    else { return }
                    for _ in 0..<index { _ = try array.superDecoder() }
                    place = try array.superDecoder()
                }
            }
            let value = try place.singleValueContainer()
            if !value.decodeNil() { text = try value.decode(String.self) }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
