import Platform

/// Covers by number: embedded images that a comment makes unique. The same number always gives the same bytes.
package enum CoverImage {
    /// A JPEG of 8 to 250 KB; the mean over many numbers is 31 KB.
    package static func jpeg(number: Int) -> [UInt8] { jpegFile(number: number) }

    /// A JPEG of `size` bytes, at most three bytes shorter. The shortest has about 650 bytes.
    /// - Parameter image: Which of the twelve embedded images it shows; nil for any.
    package static func jpeg(number: Int, image: Int? = nil, aboutBytes size: Int) -> [UInt8] {
        jpegFile(number: number, image: image, size: size)
    }

    /// A PNG of 32 pixels and about 2 KB, padded to `size` bytes.
    package static func png(number: Int, aboutBytes size: Int = 0) -> [UInt8] {
        pngFile(number: number, size: size)
    }

    static func jpegFile(number: Int, image: Int? = nil, size: Int? = nil) -> [UInt8] {
        let hash = SplitMix64.mix(UInt64(bitPattern: Int64(number)))
        guard let size else {
            return CommentedJPEG(templates[Int(hash % UInt64(templates.count))], comment: comment(number)).file
        }
        let count = EmbeddedCover.all.count
        let cover = EmbeddedCover.all[image.map { $0 % count } ?? Int(hash % UInt64(count))]
        return CommentedJPEG(cover.image(forFileOf: size), comment: comment(number), size: size).file
    }

    static func pngFile(number: Int, size: Int? = nil) -> [UInt8] {
        CommentedPNG(EmbeddedCover.pngIcon, comment: comment(number), size: size ?? 0).file
    }

    private static func comment(_ number: Int) -> String { "Sleeve cover \(number)" }

    /// An upper bound for a cover's COM segment, in bytes.
    static let maximumCommentLength = 40

    /// A JPEG for each of `sizes`, which the covers share. They take 2 MB and are built when the first cover is needed.
    private static let templates = sizes.enumerated().map { index, size in
        let size = size - maximumCommentLength
        let cover = EmbeddedCover.all[index % EmbeddedCover.all.count]
        return CommentedJPEG(cover.image(forFileOf: size), comment: cover.slug, size: size).file
    }

    /// The covers' lengths in bytes: the 64 quantiles of a shifted log-normal distribution,
    /// `8000 + 10500 · exp(1.3 · z)`. Their mean is 31 KB, as in a library of real covers.
    private static let sizes = [
        8500, 8800, 9100, 9300, 9500, 9800, 10000, 10200, 10500, 10700, 10900, 11200,
        11400, 11700, 12000, 12200, 12500, 12800, 13100, 13400, 13700, 14100, 14400, 14800,
        15100, 15500, 15900, 16300, 16800, 17200, 17700, 18200, 18800, 19300, 19900, 20600,
        21200, 21900, 22700, 23500, 24300, 25200, 26200, 27300, 28400, 29600, 31000, 32400,
        34100, 35800, 37800, 40100, 42600, 45400, 48800, 52600, 57300, 62900, 70000, 79300,
        92200, 111700, 147100, 251300,
    ]
}
