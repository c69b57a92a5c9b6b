import ImageHeader
import Platform

/// A picture that goes into the tags of audio files as their front cover.
struct EmbeddableCover: Sendable, Hashable {
    let bytes: [UInt8]
    let digest: Digest
    let mediaType: String
    /// In pixels; 0 if unknown.
    let width, height: Int

    /// FLAC has 24 bits for the length of a picture with what describes it.
    private static let maximumLength = (1 << 24) - 1_024

    /// - Throws: `TagFailure`, about the picture.
    init(_ bytes: [UInt8]) throws {
        guard let header = bytes.withUnsafeBytes({ ImageHeader($0) }), ShownPictures.inTags.contains(header.mediaType)
        else {
            throw TagFailure(reason: "is neither JPEG nor PNG, so it is not embedded")
        }
        guard bytes.withUnsafeBytes({ ImageHeader.isComplete($0) }) else {
            throw TagFailure(reason: "is cut off, so it is not embedded")
        }
        guard bytes.count <= Self.maximumLength else {
            throw TagFailure(reason: "is larger than 16 MB, so it is not embedded")
        }
        (self.bytes, digest, mediaType) = (bytes, Digest(of: bytes), header.mediaType)
        (width, height) = (header.width ?? 0, header.height ?? 0)
    }

    /// The picture as FLAC and Vorbis comments have it (RFC 9639 section 8.8), without a block's header.
    var flacPicture: [UInt8] {
        var block: [UInt8] = .big(EmbeddedPicture.frontCover, 4) + .big(mediaType.utf8.count, 4) + mediaType.utf8
        for number in [0, width, height, 24, 0, bytes.count] { block += [UInt8].big(number, 4) }
        return block + bytes
    }

    /// The image in such a block; nil if it is damaged.
    static func image(flacPicture block: [UInt8]) -> [UInt8]? {
        guard let type = try? block.big(4, 4), let description = try? block.big(8 + type, 4),
            let count = try? block.big(28 + type + description, 4)
        else { return nil }
        return try? block.bytes(at: 32 + type + description, count: count)
    }
}
