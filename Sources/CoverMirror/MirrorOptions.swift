/// Where a mirror listens and by which names it is called.
package struct MirrorOptions: Sendable {
    /// An address or name of this machine.
    package var host = "127.0.0.1"
    /// 0 takes a free one.
    package var port = 8_732
    /// Names, besides addresses and `localhost`, by which programs may call it. One is needed where others than this machine
    /// can connect: a mirror asks for no password, so that must be meant.
    package var names: [String] = []

    package init() {}

    /// Whether only this machine can connect.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    /// Whether `Host` names this mirror. A name of somebody else's may have been led here (DNS rebinding), by a page that is
    /// open in a browser of this machine; an address cannot be.
    func answers(to authority: String) -> Bool {
        var name = authority.lowercased()
        if let colon = name.lastIndex(of: ":"), name[colon...].dropFirst().allSatisfy(\.isNumber) {
            name = String(name[..<colon])
        }
        if name.hasPrefix("["), name.hasSuffix("]") {
            return name.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, parts.allSatisfy({ UInt8($0) != nil }) { return true }
        return (names + ["localhost", host]).contains { $0.lowercased() == name }
    }
}

/// Why a mirror cannot be opened.
package enum MirrorError: Error, Sendable, CustomStringConvertible {
    case cannotListen(host: String, port: Int, cause: String)
    case needsName(host: String)

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let cause): "cannot listen on \(host):\(port): \(cause)"
        case .needsName(let host):
            "others can connect to \(host), and a mirror asks for no password; if that is meant, say by which name they "
                + "call it: --name NAME"
        }
    }
}
