/// AVIF and HEIC: brands of the AVIF specification section 8 and of ISO/IEC 23008-12 (HEIF) section 10.
extension ImageHeader {
    /// The size is that of the primary item, which viewers show: a file may also hold thumbnails, tiles, depth maps and gain maps.
    /// If the file does not say which item that is, it is the largest size.
    static func isoMedia(_ view: ByteView) -> ImageHeader? {
        guard let length = view.bigEndian(0, 4), view.has("ftyp", at: 4), let type = mediaType(view, length) else {
            return nil
        }
        // `meta` is a full box: version and flags precede its boxes.
        guard let meta = Boxes(view, in: 0..<view.count).first("meta").map({ Boxes(view, in: $0.dropFirst(4)) }),
            let properties = meta.first("iprp").map({ Boxes(view, in: $0) }),
            let container = properties.first("ipco").map({ Boxes(view, in: $0) })
        else { return ImageHeader(type) }
        var size = largestSize(container, view)
        if let item = primaryItem(meta, view) {
            let associated = propertyIndices(of: item, properties, view)
            size = primarySize(associated, Array(container.prefix(maximumProperties)), view) ?? size
        }
        return ImageHeader(type, size?.width, size?.height)
    }

    private typealias Size = (width: Int, height: Int)

    /// An association has 15 bits for the number of a property.
    private static let maximumProperties = 32_767

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

    /// `pitm` (ISO/IEC 14496-12 section 8.11.4).
    private static func primaryItem(_ meta: Boxes, _ view: ByteView) -> Int? {
        guard let range = meta.first("pitm"), let version = view.byte(range.lowerBound) else { return nil }
        let size = version == 0 ? 2 : 4
        return range.count >= 4 + size ? view.bigEndian(range.lowerBound + 4, size) : nil
    }

    /// The properties of an item, as numbers from 1 of the boxes in `ipco`, in the order in which they apply: `ipma` (ISO/IEC
    /// 23008-12 section 9.3).
    private static func propertyIndices(of item: Int, _ properties: Boxes, _ view: ByteView) -> [Int] {
        for box in properties where view.has("ipma", at: box.type) {
            var offset = box.contents.lowerBound
            guard let head = view.bigEndian(offset, 4), let count = view.bigEndian(offset + 4, 4) else { continue }
            let idSize = head >> 24 == 0 ? 2 : 4
            let indexSize = head & 1 == 0 ? 1 : 2
            offset += 8
            for _ in 0..<count {
                guard offset + idSize < box.contents.upperBound, let id = view.bigEndian(offset, idSize),
                    let associations = view.bigEndian(offset + idSize, 1)
                else { break }
                offset += idSize + 1
                defer { offset += associations * indexSize }
                guard id == item else { continue }
                // The first bit says whether the property is essential.
                return (0..<associations).compactMap { number in
                    view.bigEndian(offset + number * indexSize, indexSize).map {
                        $0 & (indexSize == 1 ? 0x7F : 0x7FFF)
                    }
                }
            }
        }
        return []
    }

    /// The size of an item: `ispe` (section 6.5.3), cropped by `clap` (6.5.9) and turned by `irot` (6.5.10). Nil without `ispe`.
    private static func primarySize(_ indices: [Int], _ properties: [Boxes.Box], _ view: ByteView) -> Size? {
        var size: Size?
        for index in indices where index > 0 && index <= properties.count {
            let (type, contents) = (properties[index - 1].type, properties[index - 1].contents)
            if view.has("ispe", at: type) {
                size = extent(contents, view) ?? size
            } else if view.has("clap", at: type), let whole = size, contents.count >= 16,
                let width = aperture(contents.lowerBound, view), let height = aperture(contents.lowerBound + 8, view)
            {
                size = (min(width, whole.width), min(height, whole.height))
            } else if view.has("irot", at: type), let angle = view.byte(contents.lowerBound), angle & 1 == 1,
                !contents.isEmpty
            {
                // An odd number of quarter turns.
                size = size.map { ($0.height, $0.width) }
            }
        }
        return size
    }

    private static func largestSize(_ container: Boxes, _ view: ByteView) -> Size? {
        var largest: Size?
        for box in container where view.has("ispe", at: box.type) {
            guard let size = extent(box.contents, view) else { continue }
            if pixelCount(size) > largest.map(pixelCount) ?? 0 { largest = size }
        }
        return largest
    }

    /// An impossible size is the largest.
    private static func pixelCount(_ size: Size) -> Int {
        if size.width == 0 || size.height == 0 { return 0 }
        return PixelSize(size.width, size.height)?.pixelCount ?? .max
    }

    /// The contents of `ispe`: version and flags, width, height.
    private static func extent(_ contents: Range<Int>, _ view: ByteView) -> Size? {
        guard contents.count >= 12, let width = view.bigEndian(contents.lowerBound + 4, 4),
            let height = view.bigEndian(contents.lowerBound + 8, 4)
        else { return nil }
        return (width, height)
    }

    /// A length of the clean aperture in pixels, rounded: a numerator and a denominator.
    private static func aperture(_ offset: Int, _ view: ByteView) -> Int? {
        guard let numerator = view.bigEndian(offset, 4), let denominator = view.bigEndian(offset + 4, 4),
            numerator > 0, denominator > 0
        else { return nil }
        return max(1, (numerator + denominator / 2) / denominator)
    }
}
