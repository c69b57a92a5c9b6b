/// A body in the codings in which servers send it.
enum Coded {
    static let plain = [UInt8](repeating: UInt8(ascii: "a"), count: 5_000)
    static let forms: [String: [UInt8]] = [
        "plain": plain,
        "gzip": hex(
            "1F8B0800000000000203EDC13101000000C2A0ACEB5FC2147E4001000000006F037659F44C88130000"),
        "zlib": hex(
            "789CEDC13101000000C2A0ACEB5FC2147E4001000000006F034B6F66F2"),
        "raw": hex(
            "EDC13101000000C2A0ACEB5FC2147E4001000000006F03"),
        "twice": hex(
            "1F8B080000000000020393EFE660000126E6B7070D19818C430BD6BC8E3F2452E700E230E43397457EF1E910666000006D86FD5329000000"
        ),
    ]

    private static func hex(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { $0 < 0x41 ? $0 - 0x30 : $0 - 0x37 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
