/// Windows Media Audio (Advanced Systems Format specification, sections 3 and 4).
enum ASF {
    static func file(_ tags: MusicTags) -> [UInt8] {
        let names = [
            ("WM/AlbumTitle", tags.album), ("WM/AlbumArtist", tags.albumArtist), ("WM/Year", tags.date),
            ("WM/Genre", tags.genre),
            ("WM/TrackNumber", String(tags.track)), ("WM/PartOfSet", tags.disc.map { String($0) } ?? ""),
            ("MusicBrainz/Album Id", tags.releaseID), ("MusicBrainz/Release Group Id", tags.releaseGroupID),
        ].filter { !$0.1.isEmpty }
        var attributes = names.map { attribute($0.0, 0, utf16($0.1)) }
        if tags.isCompilation { attributes.append(attribute("WM/IsCompilation", 2, little(1, 4))) }
        for picture in tags.pictures {
            attributes.append(
                attribute(
                    "WM/Picture", 1,
                    [UInt8(picture.type)] + little(picture.bytes.count, 4) + utf16(picture.mediaType) + utf16("")
                        + picture.bytes))
        }
        let (title, author) = (utf16(tags.title), utf16(tags.artist))
        let description = little(title.count, 2) + little(author.count, 2) + zeros(6) + title + author
        let objects = [
            object("A1DCAB8C47A9CF118EE400C00C205365", zeros(80)),
            object("9107DCB7B7A9CF118EE600C00C205365", zeros(72)),
            object("3326B2758E66CF11A6D900AA0062CE6C", description),
            object("40A4D0D207E3D21197F000A0C95EA850", little(attributes.count, 2) + attributes.flatMap { $0 }),
        ]
        return object("3026B2758E66CF11A6D900AA0062CE6C", little(objects.count, 4) + [1, 2] + objects.flatMap { $0 })
            + object("3626B2758E66CF11A6D900AA0062CE6C", zeros(26))
    }

    private static func attribute(_ name: String, _ type: Int, _ value: [UInt8]) -> [UInt8] {
        little(utf16(name).count, 2) + utf16(name) + little(type, 2) + little(value.count, 2) + value
    }

    private static func object(_ id: String, _ contents: [UInt8]) -> [UInt8] {
        let digits = Array(id)
        let bytes = stride(from: 0, to: 32, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
        return bytes + little(contents.count + 24, 8) + contents
    }
}
