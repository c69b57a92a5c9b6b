import Testing

@testable import MusicFolder

@Suite struct DiscNameTests {
    @Test(arguments: [
        ("CD1", "", 1), ("CD 2 - Live", "", 2), ("cd-03", "", 3), ("Disc_4", "", 4), ("Disk 1 of 2", "", 1),
        ("Low Tide CD1", "Low Tide", 1), ("Low Tide (Disc 2)", "Low Tide", 2),
        ("Low Tide - Disc 1: Sea", "Low Tide", 1),
        ("Low Tide [CD 1/2]", "Low Tide", 1), ("Disc A", "", 1), ("Disc Two", "", 2), ("CD II", "", 2),
        ("Digital Media 3", "", 3), ("DVD 1", "", 1), ("Low Tide, Disc 2", "Low Tide", 2),
        ("Vol. 1 - CD 2", "Vol. 1", 2),
    ])
    func `a disc has a title and a number`(name: String, title: String, number: Int) throws {
        let disc = try #require(DiscName(name))
        #expect(disc.title == title && disc.number == number && disc.isStrong)
    }

    @Test(arguments: ["Vol. 4", "Volume 2", "Side B", "Book One", "Part 2", "LP1"])
    func `volumes, sides and parts are weak`(name: String) throws {
        #expect(try #require(DiscName(name)).isStrong == false)
    }

    @Test(arguments: [
        "ACDC 1", "Disco 3", "Discs 2", "CD", "2CD", "[2 CD]", "CD 2001", "Compact Disc", "Low Tide (Disc 1) Live",
        "Disc Jockey", "CD-R", "Volumes", "DVD Audio", "Discovery 1", "CD 0", "Low Tide",
    ])
    func `other names are none`(name: String) { #expect(DiscName(name) == nil) }
}
