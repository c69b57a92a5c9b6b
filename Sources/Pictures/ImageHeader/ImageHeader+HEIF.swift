/// AVIF and HEIC: brands of the AVIF specification section 8 and of ISO/IEC 23008-12 (HEIF) section 10.
extension ImageHeader {
    /// The size is that of all items: a file whose items differ, as it holds thumbnails, tiles or gain maps, has none here, for only the
    /// primary one counts.
    static func isoMedia(_ view: ByteView) -> ImageHeader? {
        guard let length = view.bigEndian(0, 4), view.has("ftyp", at: 4), let type = mediaType(view, length) else {
            return nil
        }
        // `meta` is a full box: version and flags precede its boxes.
        guard let meta = Boxes(view, in: 0..<view.count).first("meta").map({ Boxes(view, in: $0.dropFirst(4)) }),
            let properties = meta.first("iprp").map({ Boxes(view, in: $0) }),
            let container = properties.first("ipco").map({ Boxes(view, in: $0) })
        else { return nil }
        var common: ImageHeader?
        // `ispe` (ISO/IEC 23008-12 section 6.5.3): version and flags, width, height.
        for box in container where view.has("ispe", at: box.type) && box.contents.count >= 12 {
            let start = box.contents.lowerBound
            let header = ImageHeader(type, view.bigEndian(start + 4, 4), view.bigEndian(start + 8, 4))
            if header.isImpossible { return header }
            if let known = common, known != header { common = ImageHeader(type) } else { common = header }
        }
        return common ?? ImageHeader(type)
    }

    /// Whether it begins as an AVIF or a HEIC does.
    static func isISOMedia(_ view: ByteView) -> Bool {
        guard let length = view.bigEndian(0, 4), view.has("ftyp", at: 4) else { return false }
        return mediaType(view, length) != nil
    }

    /// By the major brand first, then by the compatible ones. Nil for a video.
    private static func mediaType(_ view: ByteView, _ length: Int) -> String? {
        // The minor version separates the major brand from the compatible ones. No real list has more than 32.
        let brands = [8] + stride(from: 16, to: min(length, view.count, 16 + 4 * 32), by: 4)
        var isHEIF = false
        for brand in brands {
            if view.has("avif", at: brand) || view.has("avis", at: brand) { return "image/avif" }
            for name: StaticString in ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]
            where view.has(name, at: brand) {
                return "image/heic"
            }
            if view.has("mif1", at: brand) || view.has("msf1", at: brand) { isHEIF = true }
        }
        return isHEIF ? "image/heif" : nil
    }
}
