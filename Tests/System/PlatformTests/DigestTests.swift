import Testing

@testable import Platform

@Suite struct DigestTests {
    /// FIPS 180-4's examples, and the empty text.
    private static let examples: [(text: String, digest: String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]

    @Test(arguments: examples)
    func `a digest is SHA-256 in hexadecimal`(text: String, digest: String) {
        #expect("\(Digest(of: text.utf8))" == digest)
        #expect("\(Array(text.utf8).withUnsafeBytes { Digest(of: $0) })" == digest)
    }

    @Test func `the digest of parts is that of the whole, and a copy goes on independently`() {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        var hash = SHA256()
        for start in stride(from: 0, to: bytes.count, by: 63) {
            #expect(hash.digest() == Digest(of: bytes[..<start]))
            var copy = hash
            copy.update(UnsafeRawBufferPointer(start: nil, count: 0))
            bytes[start...].prefix(63).withUnsafeBytes { hash.update($0) }
            #expect(copy.digest() == Digest(of: bytes[..<start]))
        }
        #expect(hash.digest() == Digest(of: bytes))
    }

    @Test func `a digest is decoded from 32 bytes and from no other number`() {
        let digest = Digest(of: "abc".utf8)
        let bytes = digest.withUnsafeBytes { Array($0) }
        #expect(bytes.withUnsafeBytes { Digest(bytes: $0) } == digest)
        #expect(bytes.dropLast().withUnsafeBytes { Digest(bytes: $0) } == nil)
        #expect((bytes + [0]).withUnsafeBytes { Digest(bytes: $0) } == nil)
    }

    @Test func `a digest is read from its description and from no other text`() {
        let digest = Digest(of: "abc".utf8), text = digest.description
        #expect(Digest(text) == digest)
        for other in [
            "", text.uppercased(), String(text.dropLast()), text + "0", "+" + text.dropFirst(), text + "00",
            "g" + text.dropFirst(),
        ] {
            #expect(Digest(other) == nil, "\(other)")
        }
    }

    @Test func `percent-encoding is decoded where two hexadecimal digits follow`() {
        let decoded = { String(decoding: PercentEncoding.decoded(($0 as String).utf8), as: UTF8.self) }
        #expect(decoded("a%2Fb%20%c3%A9") == "a/b é")
        for text in ["%", "%2", "%+a", "%g0", "100%"] { #expect(decoded(text) == text) }
    }

    @Test func `secrets are equal if every byte is`() {
        #expect(ConstantTime.isEqual("", ""))
        #expect(ConstantTime.isEqual("s3cret-ü", "s3cret-ü"))
        for other in ["s3cret-u", "S3cret-ü", "s3cret-", "s3cret-ü ", ""] {
            #expect(!ConstantTime.isEqual("s3cret-ü", other))
        }
        // Canonically equivalent texts are other bytes.
        #expect(!ConstantTime.isEqual("\u{E9}", "e\u{301}"))
    }
}
