import OriginServer
import Platform

/// The covers that a torture downloads. Their digests are known without the cache: the origin's covers follow from the URL.
struct TortureCatalog: Sendable {
    let urls: [String]
    /// The SHA-256 of each cover, by URL, in hexadecimal digits.
    let digests: [String: String]
    /// The length of all distinct covers, in bytes.
    let bytes: Int

    /// Sizes in bytes: most covers are small, so that a process is killed between many of them; some fill several blocks.
    private static let smallSizes = 700..<12_000
    private static let largeSizes = 30_000..<120_000

    /// - Parameter origin: The URL of an origin.
    init(origin: String, count: Int, random: inout SplitMix64) {
        var (urls, digests, bytes) = ([String](), [String: String](), 0)
        var last = (number: 0, size: 0, digest: "")
        for number in 0..<count {
            // Every fourth URL has the bytes of the one before it.
            let isCopy = number % 4 == 3
            if !isCopy {
                let size = Int.random(in: number % 20 == 0 ? Self.largeSizes : Self.smallSizes, using: &random)
                let cover = CoverImage.jpeg(number: number, aboutBytes: size)
                last = (number, size, Digest(of: cover).description)
                bytes += cover.count
            }
            let url = "\(origin)/covers/\(number).jpg?size=\(last.size)" + (isCopy ? "&same=\(last.number)" : "")
            urls.append(url)
            digests[url] = last.digest
        }
        (self.urls, self.digests, self.bytes) = (urls, digests, bytes)
    }
}
