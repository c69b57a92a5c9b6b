import HTTPCaching
import HTTPTypes
import Platform

/// The bytes of a resource and their metadata (RFC 9110 §3.2).
struct Representation: Sendable {
    let bytes: [UInt8]
    let mediaType: String
    let validators: Validators

    private init(_ bytes: [UInt8], _ mediaType: String, name: String, hash: UInt64) {
        self.bytes = bytes
        self.mediaType = mediaType
        validators = Validators(name: name, hash: hash, length: bytes.count)
    }

    init(of resource: Resource, _ options: ResponseOptions) {
        switch resource {
        case .help:
            self.init(Array(HelpPage.text.utf8), "text/plain; charset=utf-8", name: "help", hash: 0)
        case .jpeg(let number):
            let number = options.coverNumber ?? number
            let bytes = CoverImage.jpegFile(number: number, size: options.size)
            self.init(bytes, "image/jpeg", name: "c\(number)", hash: UInt64(number))
        case .png(let number):
            let number = options.coverNumber ?? number
            let bytes = CoverImage.pngFile(number: number, size: options.size)
            self.init(bytes, "image/png", name: "p\(number)", hash: UInt64(number))
        case .starter(let slug):
            let hash = FNV1a.hash(slug.utf8)
            let cover = EmbeddedCover.all.first { $0.slug == slug }
            if let cover, options.coverNumber == nil, options.size == nil {
                self.init(cover.images[0], "image/jpeg", name: "s\(slug)", hash: hash)
            } else {
                self.init(of: .jpeg(Int(hash >> 1)), options)
            }
        }
    }
}

extension Representation {
    /// Evaluates `If-None-Match`, or `If-Modified-Since` without it (RFC 9110 §13.2.2). True means 304.
    func isNotModified(_ request: HTTPFields) -> Bool {
        if let tags = request[.ifNoneMatch] { return EntityTags([tags]).contains(validators.entityTag) }
        guard let date = request[.ifModifiedSince].flatMap({ HTTPDate.seconds($0) }) else { return false }
        return validators.lastModified <= date
    }
}

/// The metadata that conditional requests refer to (RFC 9110 §8.8). They depend on the resource alone.
struct Validators: Sendable {
    /// A strong entity tag with its quotes.
    let entityTag: String
    /// Seconds since 1970, in the three years after 2020-01-01.
    let lastModified: Int64

    init(name: String, hash: UInt64, length: Int) {
        entityTag = "\"\(name)-\(length)\""
        lastModified = 1_577_836_800 + Int64(SplitMix64.mix(hash) % 100_000_000)
    }
}
