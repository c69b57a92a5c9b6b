import Platform

/// Path and query: as they are sent, and normalized.
extension HTTPURL {
    private static let percent = UInt8(ascii: "%")
    private static let question = UInt8(ascii: "?")
    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    /// The request target for a path and a query as they are written. Bytes that RFC 3986 does not allow there, and a `%` that
    /// begins no percent-encoding, are percent-encoded; a backslash in the path is a slash; all other bytes stay.
    static func encodedTarget(_ written: ArraySlice<UInt8>) -> [UInt8] {
        var target: [UInt8] = written.first.map(isSlash) == true ? [] : [slash]
        target.reserveCapacity(written.count + 16)
        var isQuery = false
        for (index, byte) in zip(written.indices, written) {
            switch byte {
            case question:
                isQuery = true
                target.append(byte)
            case UInt8(ascii: "\\") where !isQuery: target.append(slash)
            case percent where value(of: written[index...].prefix(3)) != nil: target.append(byte)
            case _ where byte != percent && isAllowed(byte): target.append(byte)
            default: target += PercentEncoding.encoded(byte)
            }
        }
        return target
    }

    /// The normal form of a request target (RFC 3986 sections 6.2.2.1 to 6.2.2.3).
    static func normalizedTarget(_ target: [UInt8]) -> [UInt8] {
        var normalized: [UInt8] = []
        normalized.reserveCapacity(target.count)
        var index = 0
        while index < target.count {
            guard target[index] == percent, let value = value(of: target[index...].prefix(3)) else {
                normalized.append(target[index])
                index += 1
                continue
            }
            normalized += PercentEncoding.isUnreserved(value) ? [value] : PercentEncoding.encoded(value)
            index += 3
        }
        let path = normalized.prefix { $0 != question }
        return removingDotSegments(path) + normalized[path.endIndex...]
    }

    /// RFC 3986 section 5.2.4. - Parameter path: begins with a slash.
    static func removingDotSegments(_ path: ArraySlice<UInt8>) -> [UInt8] {
        guard zip(path, path.dropFirst()).contains(where: { $0 == slash && $1 == dot }) else { return Array(path) }
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isDots = segment.count <= 2 && !segment.isEmpty && segment.allSatisfy { $0 == dot }
            if !isDots {
                kept.append(segment)
                continue
            }
            if segment.count == 2 { _ = kept.popLast() }
            if index == segments.count - 1 { kept.append([]) }
        }
        return kept.reduce(into: []) { $0 += [slash] + $1 }
    }

    /// The value of a percent-encoding: `%` and two hexadecimal digits. Nil if the bytes are none.
    private static func value(of bytes: ArraySlice<UInt8>) -> UInt8? {
        bytes.first == percent ? Hexadecimal.byte(bytes.dropFirst()) : nil
    }

    /// `pchar`, `/` and `?` of RFC 3986 sections 3.3 and 3.4.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || "!$&'()*+,;=:@/?".utf8.contains(byte)
    }
}

// MARK: - References

extension HTTPURL {
    /// The URL that a reference leads to from this one (RFC 3986 section 5.2.2), as written: not parsed, not normalized. Only a
    /// path that is relative to this one's has its dot segments removed.
    package func resolving(_ reference: String) -> String {
        let bytes = Array(reference.utf8.prefix { $0 != UInt8(ascii: "#") })
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) { return reference }
        let text = String(decoding: bytes, as: UTF8.self)
        let slashes = bytes.prefix(2).prefix(while: Self.isSlash).count
        if slashes == 2 { return (isHTTPS ? "https:" : "http:") + text }
        if slashes == 1 { return origin + text }
        if bytes.isEmpty { return requestURL }
        let path = target.utf8.prefix { $0 != Self.question }
        if bytes.first == Self.question { return origin + String(decoding: path, as: UTF8.self) + text }
        let folder = path.prefix(through: path.lastIndex(of: Self.slash) ?? path.startIndex)
        let relative = bytes.prefix { $0 != Self.question }
        let merged = Self.removingDotSegments(ArraySlice(Array(folder) + relative))
        return origin + String(decoding: merged + bytes[relative.endIndex...], as: UTF8.self)
    }
}
