/// A line among an entry's fields that Sleeve adds itself. Its name contains a space, which no header field's name does.
package enum EntryAnnotation: Sendable, Hashable {
    /// The image's bytes stop before its end.
    case incompleteImage
    /// The entry's server failed to answer a revalidation, in milliseconds since 1970.
    case triedAt(Int64)
    /// The response's status, if it is not 200.
    case status(Int)
    /// Milliseconds between the request and its response.
    case responseDelay(Int64)
    /// A request's field that the response's `Vary` names.
    case requestField(name: String, value: String)
    /// An unsafe request invalidated the response (RFC 9111 section 4.4), in milliseconds since 1970.
    case invalidSince(Int64)
    /// The URL as it is requested, if it is not the key.
    case requestURL(String)
    /// The request had credentials, so the response is not for others.
    case credentials

    private static let incompleteImageName = "image incomplete"
    private static let credentialsName = "with credentials"
    private static let requestFieldPrefix = "asked "

    private var name: String {
        switch self {
        case .incompleteImage: Self.incompleteImageName
        case .triedAt: "tried at"
        case .status: "answered status"
        case .responseDelay: "response delay"
        case .requestField(let name, _): Self.requestFieldPrefix + name
        case .invalidSince: "invalid since"
        case .requestURL: "request URL"
        case .credentials: Self.credentialsName
        }
    }

    private var value: String {
        switch self {
        case .incompleteImage, .credentials: "yes"
        case .triedAt(let time), .responseDelay(let time), .invalidSince(let time): String(time)
        case .status(let status): String(status)
        case .requestField(_, let value), .requestURL(let value): value
        }
    }

    /// The annotation as a line of `EntryMetadata.fields`, its line feed included.
    package var line: String { "\(name): \(value)\n" }

    private init?(name: String, value: String) {
        let number = Int64(value)
        switch name {
        case Self.incompleteImageName: self = .incompleteImage
        case "tried at": self = .triedAt(number ?? 0)
        case "answered status": self = .status(number.flatMap { Int(exactly: $0) } ?? 200)
        case "response delay": self = .responseDelay(number ?? 0)
        case "invalid since": self = .invalidSince(number ?? 0)
        case "request URL": self = .requestURL(value)
        case Self.credentialsName: self = .credentials
        case _ where name.hasPrefix(Self.requestFieldPrefix):
            self = .requestField(name: String(name.dropFirst(Self.requestFieldPrefix.count)), value: value)
        default: return nil
        }
    }

    /// Whether `fields` say that the image is complete, or do not say that it is not.
    package static func isImageComplete(_ fields: String) -> Bool {
        !contains(incompleteImageName, fields)
    }

    /// Whether `fields` say that the request had credentials.
    package static func haveCredentials(_ fields: String) -> Bool { contains(credentialsName, fields) }

    private static func contains(_ name: String, _ fields: String) -> Bool {
        fields.utf8.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: name.utf8) }
    }

    /// The annotations among the lines of `fields`, in order. Unknown ones are left out.
    package static func all(in fields: String) -> [EntryAnnotation] {
        fields.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].contains(UInt8(ascii: " ")) else {
                return nil
            }
            return EntryAnnotation(
                name: String(Substring(line[..<colon])), value: String(Substring(line[colon...].dropFirst(2))))
        }
    }
}
