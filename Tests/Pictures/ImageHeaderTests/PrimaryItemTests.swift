import Testing

@testable import ImageHeader

/// AVIF and HEIC files with several items.
@Suite struct PrimaryItemTests {
    private typealias Sample = ImageSample
    private static func full(_ type: String, _ version: UInt8 = 0, _ flags: UInt8 = 0, _ contents: [UInt8]) -> [UInt8] {
        Sample.box(type, [version, 0, 0, flags] + contents)
    }
    private static func extent(_ width: Int, _ height: Int) -> [UInt8] {
        full("ispe", 0, 0, Sample.big(width, 4) + Sample.big(height, 4))
    }
    private static func crop(_ width: (Int, Int), _ height: (Int, Int)) -> [UInt8] {
        let numbers = [width.0, width.1, height.0, height.1, 0, 1, 0, 1]
        return Sample.box("clap", numbers.flatMap { Sample.big($0, 4) })
    }
    private static func turn(_ quarters: UInt8) -> [UInt8] { Sample.box("irot", [quarters]) }

    /// - Parameters:
    ///   - items: id and properties, numbered from 1.
    ///   - isWide: the long forms of `pitm` and `ipma`.
    private static func file(
        primary: Int?, items: [(id: Int, properties: [Int])], properties: [[UInt8]], isWide: Bool = false
    ) -> [UInt8] {
        let (version, flags, idSize): (UInt8, UInt8, Int) = isWide ? (1, 1, 4) : (0, 0, 2)
        let entries = items.flatMap { item in
            let indices = item.properties.flatMap { isWide ? Sample.big($0 | 0x8000, 2) : [UInt8($0 | 0x80)] }
            return Sample.big(item.id, idSize) + [UInt8(item.properties.count)] + indices
        }
        let associations = full("ipma", version, flags, Sample.big(items.count, 4) + entries)
        let pitm = primary.map { full("pitm", version, 0, Sample.big($0, idSize)) } ?? []
        return Sample.box("ftyp", Array("avif".utf8) + Sample.big(0, 4) + Array("mif1".utf8))
            + full(
                "meta", 0, 0, pitm + Sample.box("iprp", Sample.box("ipco", properties.flatMap { $0 }) + associations))
    }

    private func size(_ bytes: [UInt8]) -> [Int]? {
        bytes.withUnsafeBytes { ImageHeader($0) }.flatMap { header in
            header.width.flatMap { width in header.height.map { [width, $0] } }
        }
    }

    @Test(arguments: [false, true])
    func `the size is that of the primary item, whichever comes first and is larger`(isWide: Bool) {
        let properties = [Self.extent(100, 90), Self.box("pixi"), Self.extent(400, 300)]
        let items = [(id: 7, properties: [1, 2]), (id: 0x102, properties: [2, 3])]
        #expect(size(Self.file(primary: 7, items: items, properties: properties, isWide: isWide)) == [100, 90])
        #expect(size(Self.file(primary: 0x102, items: items, properties: properties, isWide: isWide)) == [400, 300])
    }

    private static func box(_ type: String) -> [UInt8] { Sample.box(type, [0, 0, 0, 0]) }

    @Test func `without a primary item, or a size of it, the size is the largest`() {
        let properties = [Self.extent(100, 90), Self.extent(400, 300), Self.turn(1)]
        for (primary, associated) in [(nil, [1]), (9, [1]), (1, []), (1, [3]), (1, [0, 4, 127])] as [(Int?, [Int])] {
            let bytes = Self.file(primary: primary, items: [(1, associated)], properties: properties)
            #expect(size(bytes) == [400, 300], "\(associated)")
        }
    }

    @Test func `a clean aperture and a rotation apply, in their order`() {
        let properties = [
            Self.extent(400, 300), Self.turn(1), Self.turn(2), Self.crop((401, 2), (99, 1)), Self.crop((1, 0), (5, 1)),
            Self.crop((900, 1), (0, 1)),
        ]
        for (associated, expected) in [
            ([1, 2], [300, 400]), ([1, 3], [400, 300]), ([1, 4], [201, 99]), ([1, 4, 2], [99, 201]),
            ([1, 2, 4], [201, 99]), ([1, 5], [400, 300]), ([1, 6], [400, 300]),
        ] {
            #expect(size(Self.file(primary: 1, items: [(1, associated)], properties: properties)) == expected)
        }
    }

    @Test func `counts, numbers and lengths that lead past the end are ignored`() {
        let whole = Self.file(
            primary: 1, items: [(1, [1, 2, 3])],
            properties: [Self.extent(400, 300), Self.turn(1), Self.crop((9, 1), (9, 1))])
        #expect(size(whole) == [9, 9])
        for index in 16..<whole.count {
            for byte: UInt8 in [0, 1, 0x7F, 0xFF] {
                var changed = whole
                changed[index] = byte
                for bytes in [changed, Array(changed.prefix(index + 1))] { #expect(size(bytes) != []) }
            }
        }
    }
}
