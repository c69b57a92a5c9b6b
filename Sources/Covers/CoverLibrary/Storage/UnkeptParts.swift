import CoverFetch
import CurlHTTP
import HTTPTypes

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
