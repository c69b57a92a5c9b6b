import AlbumLibrary
import HTTPTypes

extension RequestHeaderFields {
    /// Why a line is no field. It does not show the line, which may be a credential.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case notAField
        case noValue(String)
        case control(String)
        case reserved(String)

        package var description: String {
            switch self {
            case .notAField: "it is not a name, a colon and a value, as in 'Referer: https://example.org/'"
            case .noValue(let name): "\(name) has no value"
            case .control(let name): "the value of \(name) has a control character"
            case .reserved(let name): "\(name) is set by Sleeve alone"
            }
        }
    }

    /// These fields and that of a line as in the head of a request: `Name: value` (RFC 9112 section 5).
    package func adding(_ line: String) throws(Problem) -> Self {
        guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
            throw .notAField
        }
        let value = String(line[line.index(after: colon)...]).trimmingWhitespace()
        if value.isEmpty { throw .noValue(name.rawName) }
        if value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) { throw .control(name.rawName) }
        if Self([name: value]).isEmpty { throw .reserved(name.rawName) }
        return Self(HTTPFields(fields + [HTTPField(name: name, value: value)]))
    }
}
