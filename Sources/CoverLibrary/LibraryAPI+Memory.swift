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

    // MARK: Hosts

    /// How long it is kept what was found out about a host, in milliseconds: 30 days.
    private static let hostPatience: Int64 = 30 * 86_400_000

    /// What earlier runs found out about hosts, by origin.
    func hostsLearnt() -> [String: HostPace.Learnt] {
        let all = (try? reader.recallAll(.host, now: WallClock.milliseconds())) ?? []
        return all.reduce(into: [:]) { $0[$1.key] = HostPace.Learnt($1.value) }
    }

    /// A hint: that it cannot be written is let go.
    func keepHosts(_ learnt: [String: HostPace.Learnt]) async {
        if learnt.isEmpty { return }
        let now = WallClock.milliseconds()
        let changes = learnt.map {
            MemoryChange.remember(Remembered(.host, $0.key, $0.value.text, until: now + Self.hostPatience))
        }
        try? await persistency.withWriter { writer in
            writer.note(changes, now: now)
            try writer.writeUsage()
        }
    }
}
