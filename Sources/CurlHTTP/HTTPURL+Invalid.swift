extension HTTPURL {
    /// Whether the host's name ends in `.invalid`, which no host has (RFC 6761 section 6.4). Such a URL names a cover that a person or
    /// a program gave as bytes. It is never requested.
    package var isInvalidHost: Bool {
        let host = origin.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3).prefix { $0 != UInt8(ascii: ":") }
        let name = host.last == UInt8(ascii: ".") ? host.dropLast() : host
        return name.reversed().starts(with: "dilavni.".utf8) || name.elementsEqual("invalid".utf8)
    }
}
