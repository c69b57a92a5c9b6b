/// The albums of a library that a person opens before there is one. They are invented, and so are their covers.
package enum StarterAlbums {
    /// The origin of the covers' URLs. It never resolves (RFC 6761 section 6.4): the covers are put into the cache when the
    /// library is created. `sleeve origin` serves them too.
    package static let origin = "https://covers.invalid"

    /// The name of the cover at a starter album's URL, such as `low-tide`; nil for any other URL.
    package static func slug(of url: String) -> String? {
        guard url.hasPrefix(origin + "/starter/"), url.hasSuffix(".jpg") else { return nil }
        return String(url.dropFirst(origin.utf8.count + 9).dropLast(4))
    }

    static func albums(origin: String) -> [Album] {
        rows.map { title, artist, genre, year, slug in
            Album(title: title, artist: artist, genre: genre, coverURL: "\(origin)/starter/\(slug).jpg", year: year)
        }
    }

    private static let rows: [(String, String, String, String, String)] = [
        ("Low Tide", "The Harbour Lights", "Folk", "1971", "low-tide"),
        ("Paper Suns", "Mira Okafor", "Soul", "1974", "paper-suns"),
        ("Night Bus to Ostrava", "Kolej", "Synth-pop", "1983", "night-bus-to-ostrava"),
        ("Four Rooms", "Anselm Quartet", "Jazz", "1962", "four-rooms"),
        ("Gravel and Silk", "June Tallow", "Country", "1988", "gravel-and-silk"),
        ("Understory", "Fern Relay", "Ambient", "2009", "understory"),
        ("Brass Weather", "Salt Street Band", "Brass", "1997", "brass-weather"),
        ("Second Language", "Ines Duarte", "Bossa nova", "1968", "second-language"),
        ("Concrete Choir", "Blockhaus", "Techno", "1994", "concrete-choir"),
        ("The Long Way Up", "Cairn", "Post-rock", "2004", "the-long-way-up"),
        ("Kitchen Songs", "Ada and the Kettles", "Indie", "2015", "kitchen-songs"),
        ("Winter Counterpoint", "Lund Chamber Players", "Classical", "2019", "winter-counterpoint"),
    ]
}
