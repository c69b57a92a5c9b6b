import CoverCache
import CurlHTTP
import Platform

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
                place: Relocation.target(
                    of: urls[index], places.indices.contains(index) ? places[index] : nil,
                    allowsDowngrades: configuration.allowsDowngrades),
                guess: archive.contains(urls[index].string) ? CoverArtArchive.negativeTimeToLive : nil)
        }
    }

    // MARK: Hosts

    /// What earlier runs found out about hosts, by origin.
    func hostsLearnt() -> [String: HostMemory] {
        let now = HostMemory.Moment.now
        let all = (try? reader.recallAll(.host, now: now.milliseconds)) ?? []
        return all.reduce(into: [:]) { $0[$1.key] = HostMemory($1.value, at: now) }
    }

    /// A hint: that it cannot be written is let go.
    func keepHosts(_ learnt: [String: HostMemory]) async {
        let now = HostMemory.Moment.now
        let changes = HostMemory.changes(learnt, at: now)
        if changes.isEmpty { return }
        try? await persistency.withWriter { writer in
            writer.note(changes, now: now.milliseconds)
            try writer.writeUsage()
        }
    }
}
