package import HTTPTypes

/// `Vary`: which requests a stored response answers (RFC 9111 section 4.1).
package enum Vary {
    /// Whether the fields that `vary` names are the same in two requests, except for white space and line breaks. `*` never matches.
    /// - Parameters:
    ///   - vary: the values of the stored response's `Vary`.
    ///   - stored: fields of the request that the stored response answered.
    ///   - request: fields of the new request.
    package static func matches(_ vary: [String], stored: HTTPFields, request: HTTPFields) -> Bool {
        names(vary).allSatisfy { name in
            guard name != "*", let name = HTTPField.Name(name) else { return false }
            return normalised(stored[values: name], name) == normalised(request[values: name], name)
        }
    }

    /// The names in `Vary`, in lower case.
    package static func names(_ vary: [String]) -> [String] {
        vary.flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            .filter { !$0.isEmpty }
    }

    /// Fields whose values match in any case: language tags, codings, character sets (RFC 9110 sections 8.3.2, 8.4.1 and 8.5.1).
    private static let caseless: Set<HTTPField.Name> = [
        .acceptLanguage, .acceptEncoding, HTTPField.Name("Accept-Charset")!,
    ]

    private static func normalised(_ values: [String], _ name: HTTPField.Name) -> [String] {
        values.map { caseless.contains(name) ? $0.lowercased() : $0 }.flatMap { $0.split(separator: ",") }
            .map { $0.split { $0 == " " || $0 == "\t" }.joined(separator: " ") }
            .filter { !$0.isEmpty }
    }
}
