import Crypto
import NIOSSL
import OriginServer
import Platform
import SwiftASN1
import X509

/// A self-signed certificate for this machine's names, with a new key that exists in this process only.
struct OriginCertificate {
    private let key: P256.Signing.PrivateKey
    /// The certificate in PEM.
    let pem: String

    init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("Sleeve origin") }
        let names = ["localhost", ArchiveHosts.wildcard]
        let addresses: [[UInt8]] = [[127, 0, 0, 1], [UInt8](repeating: 0, count: 15) + [1]]
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: Date.now - 86_400, notValidAfter: Date.now + 365 * 86_400, issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(digitalSignature: true, keyCertSign: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
                SubjectAlternativeNames(
                    names.map { .dnsName($0) } + addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) })
            },
            issuerPrivateKey: .init(key))
        self.key = key
        pem = try certificate.serializeAsPEM().pemString + "\n"
    }

    /// The configuration of a server that uses the certificate.
    func context(protocols: [String]) throws -> NIOSSLContext {
        let key = try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)
        let certificate = try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }
}
