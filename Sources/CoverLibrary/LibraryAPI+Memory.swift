import CoverCache
import CurlHTTP

/// What is remembered of a URL whose cover is to come.
struct Recollection: Sendable {
    /// Its server has said lately that nothing is there.
    var absence: Remembered?
    /// It has moved there for good.
    var place: HTTPURL?
    /// How long a server is believed that nothing is there, where it says nothing of it, in milliseconds; nil: as usual.
    var guess: Int64?
}

extension LibraryAPI {
    /// In the order of `urls`. What cannot be read is not remembered: it is a hint.
    func recall(_ urls: [HTTPURL]) -> [Recollection] {
        let now = WallClock.milliseconds()
        let keys = urls.map(\.string)
        let absences = (try? reader.recall(.absent, of: keys, now: now)) ?? []
        let places = (try? reader.recall(.moved, of: keys, now: now)) ?? []
        return urls.indices.map { index in
            Recollection(
                absence: absences.indices.contains(index) ? absences[index] : nil,
                place: Relocation.place(
                    of: urls[index], places.indices.contains(index) ? places[index] : nil,
                    allowsDowngrades: configuration.allowsDowngrades),
                guess: archive.holds(urls[index]) ? CoverArtArchive.patience : nil)
        }
    }
}
