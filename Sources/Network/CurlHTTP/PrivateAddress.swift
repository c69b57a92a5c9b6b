import Platform

/// Addresses that are not public (the IANA special-purpose registries of RFC 6890; RFC 4291, RFC 6052): this machine, its network,
/// cloud metadata, multicast, documentation. A list from elsewhere must not lead there.
enum PrivateAddress {
    static func contains(_ address: UnsafePointer<sockaddr>) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                contains(v4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { contains(v6: Array($0)) }
            }
        // A Unix domain socket is on this machine.
        default: true
        }
    }

    /// Whether a URL's host is a private address itself, or a name of this machine (RFC 6761 section 6.3), which needs no name server.
    static func isNamed(by url: HTTPURL) -> Bool {
        var host = url.host
        if host.hasPrefix("[") {
            return SocketAddress.bytes(of: String(host.dropFirst().dropLast())).map { contains(bytes: $0) } ?? true
        }
        if host.hasSuffix(".") { host.removeLast() }
        return host == "localhost" || host.hasSuffix(".localhost")
            || SocketAddress.bytes(of: host).map { contains(bytes: $0) } ?? false
    }

    /// Whether a text is an address that is not private.
    static func isPublic(_ text: String) -> Bool {
        SocketAddress.bytes(of: text).map { !contains(bytes: $0) } ?? false
    }

    private static func contains(bytes: [UInt8]) -> Bool {
        bytes.count == 4 ? contains(v4: bytes.reduce(0) { $0 << 8 | UInt32($1) }) : contains(v6: bytes)
    }

    private static let networks4: [(prefix: UInt32, length: Int)] = [
        (0x0000_0000, 8),  // 0.0.0.0/8, this network
        (0x0A00_0000, 8),  // 10.0.0.0/8, private
        (0x6440_0000, 10),  // 100.64.0.0/10, carrier-grade NAT
        (0x7F00_0000, 8),  // 127.0.0.0/8, loopback
        (0xA9FE_0000, 16),  // 169.254.0.0/16, link-local, cloud metadata
        (0xAC10_0000, 12),  // 172.16.0.0/12, private
        (0xC000_0000, 24),  // 192.0.0.0/24, protocol assignments
        (0xC000_0200, 24),  // 192.0.2.0/24, documentation
        (0xC0A8_0000, 16),  // 192.168.0.0/16, private
        (0xC612_0000, 15),  // 198.18.0.0/15, benchmarks
        (0xC633_6400, 24),  // 198.51.100.0/24, documentation
        (0xCB00_7100, 24),  // 203.0.113.0/24, documentation
        (0xE000_0000, 3),  // 224.0.0.0/3, multicast, reserved, broadcast
    ]

    static func contains(v4 address: UInt32) -> Bool {
        networks4.contains { ($0.prefix ^ address) >> UInt32(32 - $0.length) == 0 }
    }

    /// - Parameter bytes: the 16 bytes of an address.
    static func contains(v6 bytes: [UInt8]) -> Bool {
        func v4(at index: Int) -> Bool {
            contains(v4: bytes[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) })
        }
        func begins(_ prefix: UInt8...) -> Bool { bytes.starts(with: prefix) }
        let zeros = bytes.prefix { $0 == 0 }.count
        // Addresses that embed an IPv4 address: mapped (::ffff:0:0/96), compatible (::/96, which includes :: and ::1), translated
        // (64:ff9b::/96), 6to4 (2002::/16).
        if zeros >= 10, bytes[10] == 0xFF, bytes[11] == 0xFF { return v4(at: 12) }
        if zeros >= 12 { return zeros >= 15 || v4(at: 12) }
        if begins(0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0) { return v4(at: 12) }
        if begins(0x20, 0x02) { return v4(at: 2) }
        // Only 2000::/3 is public, without the protocol assignments with Teredo (2001::/23) and the documentation prefixes
        // (2001:db8::/32, 3fff::/20).
        return bytes[0] & 0xE0 != 0x20 || begins(0x20, 0x01, 0x00) || begins(0x20, 0x01, 0x01)
            || begins(0x20, 0x01, 0x0D, 0xB8) || (begins(0x3F, 0xFF) && bytes[2] & 0xF0 == 0)
    }
}
