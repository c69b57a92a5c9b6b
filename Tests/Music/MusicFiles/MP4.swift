/// MPEG-4 (ISO/IEC 14496-12) with iTunes' metadata.
enum MP4 {
    static func file(_ tags: MusicTags) -> [UInt8] {
        func text(_ name: [UInt8], _ value: String) -> [UInt8] {
            value.isEmpty ? [] : atom(name, data(1, Array(value.utf8)))
        }
        func custom(_ name: String, _ value: String) -> [UInt8] {
            if value.isEmpty { return [] }
            return atom(
                "----",
                atom("mean", zeros(4) + "com.apple.iTunes".utf8) + atom("name", zeros(4) + name.utf8)
                    + data(1, Array(value.utf8)))
        }
        let copyright: UInt8 = 0xA9
        var items = text([copyright] + "nam".utf8, tags.title) + text([copyright] + "alb".utf8, tags.album)
        items += text(Array("aART".utf8), tags.albumArtist) + text([copyright] + "ART".utf8, tags.artist)
        items += text([copyright] + "day".utf8, tags.date) + text([copyright] + "gen".utf8, tags.genre)
        items += atom("trkn", data(0, zeros(2) + big(tags.track, 2) + zeros(4)))
        if let disc = tags.disc { items += atom("disk", data(0, zeros(2) + big(disc, 2) + zeros(2))) }
        if tags.isCompilation { items += atom("cpil", data(21, [1])) }
        items +=
            custom("MusicBrainz Album Id", tags.releaseID) + custom("MusicBrainz Release Group Id", tags.releaseGroupID)
        if !tags.pictures.isEmpty { items += atom("covr", tags.pictures.flatMap { data(13, $0.bytes) }) }
        let handler = atom("hdlr", zeros(8) + "mdirappl".utf8 + zeros(9))
        let metadata = atom("udta", atom("meta", zeros(4) + handler + atom("ilst", items)))
        return atom("ftyp", "M4A ".utf8 + zeros(4) + "M4A mp42".utf8)
            + atom("moov", atom("mvhd", zeros(12) + big(1_000, 4) + big(1_000, 4) + zeros(80)) + metadata)
            + atom("mdat", zeros(16))
    }

    private static func data(_ type: Int, _ value: [UInt8]) -> [UInt8] { atom("data", big(type, 4) + zeros(4) + value) }
    private static func atom(_ name: String, _ contents: [UInt8]) -> [UInt8] { atom(Array(name.utf8), contents) }
    private static func atom(_ name: [UInt8], _ contents: [UInt8]) -> [UInt8] {
        big(contents.count + 8, 4) + name + contents
    }
}
