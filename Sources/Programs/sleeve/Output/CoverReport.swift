import CommandSupport
import CoverLibrary
import CoverSources
import Platform

/// Where a cover was looked for, as `sleeve why` tells it.
struct CoverReport {
    /// Nil for a URL.
    var album: Album?
    /// The services that were asked for the album.
    var sources = SourceMemory.Record()
    /// The covers that ids in the tags locate.
    var known: [SourceCandidate] = []
    /// Why a fill looks for no cover for folders of the album.
    var obstacles: [String] = []
    /// What the cache knows of the cover's URLs.
    var urls: [CoverHistory] = []

    /// Those that ids locate count only if a person has decided about them: whether they are there is not known.
    private var candidates: [SourceCandidate] {
        sources.candidates + sources.rejected + known.filter { [.accepted, .refused].contains($0.match) }
    }

    // MARK: Text

    var text: String {
        var text = ""
        if let album {
            let year = album.year.isEmpty ? "" : " (\(album.year))"
            let artist = album.artist.isEmpty ? "" : "\(album.artist): "
            text += "\(artist)\(album.title)\(year)".withoutControls + "\n"
            for obstacle in obstacles { text += "Not searched for \(obstacle)".withoutControls + "\n" }
            if sources.answers.isEmpty { text += "No service was searched for this album.\n" }
        }
        if !sources.answers.isEmpty {
            var table = TextTable(["Service", "When", "Answer"], numeric: [])
            for answer in sources.lastAnswers {
                table.add([answer.source.title, Timestamp.text(answer.time), Self.describe(answer)])
            }
            text += "\n" + table.text(width: nil)
        }
        let candidates = candidates
        if !candidates.isEmpty {
            var table = TextTable(["Found", "At", "Artist", "Album", "Year", "Tracks", "Why"], numeric: [])
            for candidate in candidates {
                let found = candidate.album
                table.add([
                    Self.certainty(candidate), candidate.source.title, found.artist, found.title,
                    found.year.map { String($0) } ?? "", found.trackCount.map { String($0) } ?? "",
                    candidate.match.reason,
                ])
            }
            text += "\n" + table.text(width: nil)
        }
        if urls.isEmpty {
            let usable = sources.rejected.isEmpty ? "a cover" : "a cover that was not rejected"
            return text + (album == nil ? "" : "\nNo address of \(usable) is known.\n")
        }
        var table = TextTable(["Address", "State"], numeric: [])
        for history in urls { table.add([Redaction.redact(history.url), Self.describe(history)]) }
        return text + (text.isEmpty ? "" : "\n") + table.text(width: nil)
    }

    private static func certainty(_ candidate: SourceCandidate) -> String {
        candidate.certainty == .none ? "rejected" : candidate.certainty.rawValue
    }

    private static func describe(_ answer: SourceAnswer) -> String {
        let text = answer.detail.isEmpty ? answer.kind.rawValue : "\(answer.kind.rawValue): \(answer.detail)"
        guard answer.kind == .notFound, let until = askedAgain(answer) else { return text }
        return "\(text); asked again from \(until)"
    }

    /// When the source is asked again; nil for the next run.
    private static func askedAgain(_ answer: SourceAnswer) -> String? {
        answer.lifetime.map { Timestamp.text(answer.time + $0) }
    }

    private static func describe(_ history: CoverHistory) -> String {
        var facts: [String] = []
        if let cover = history.cached {
            facts.append("cached since \(Timestamp.text(cover.storedAt.milliseconds))")
            let until = cover.freshUntil.map { Timestamp.text($0.milliseconds) }
            facts.append(cover.isStale() ? "stale" : until.map { "fresh until \($0)" } ?? "fresh")
        }
        if let absence = history.absence {
            let (time, until) = (absence.answeredAt.milliseconds, absence.until.milliseconds)
            facts.append(
                "answered \(absence.status) at \(Timestamp.text(time)), not requested again before \(Timestamp.text(until))"
            )
        }
        if let target = history.redirect { facts.append("moved to \(Redaction.redact(target))") }
        return facts.isEmpty ? "never requested, or forgotten" : facts.joined(separator: ", ")
    }

    // MARK: JSON

    var json: String {
        var line = JSONObject()
        if let album {
            line.add([
                "album": JSONText(album.json), "sources": Self.array(sources.lastAnswers.map(Self.json)),
                "obstacles": Self.array(obstacles.map(\.json)),
                "candidates": Self.array(candidates.map(Self.json)),
            ])
        }
        line.add("urls", Self.array(urls.map(Self.json)))
        return line.text
    }

    private static func array(_ elements: [String]) -> JSONText { JSONText("[\(elements.joined(separator: ", "))]") }

    private static func json(_ answer: SourceAnswer) -> String {
        var line: JSONObject = [
            "source": answer.source.rawValue, "url": answer.url, "answer": answer.kind.rawValue,
            "detail": answer.detail, "time": Timestamp.text(answer.time),
        ]
        if let time = askedAgain(answer) { line.add("askedAgainFrom", time) }
        return line.text
    }

    private static func json(_ candidate: SourceCandidate) -> String {
        let line: JSONObject = [
            "source": candidate.source.rawValue, "certainty": certainty(candidate), "reason": candidate.match.reason,
            "artist": candidate.album.artist, "title": candidate.album.title, "year": candidate.album.year,
            "tracks": candidate.album.trackCount,
            "pictures": array(candidate.pictures.map { Redaction.redact($0).json }),
        ]
        return line.text
    }

    private static func json(_ history: CoverHistory) -> String {
        var line: JSONObject = [
            "url": Redaction.redact(history.url),
            "state": history.cached != nil ? "cached" : history.absence != nil ? "absent" : "unknown",
        ]
        if let cover = history.cached {
            line.add([
                "digest": cover.digest, "storedAt": Timestamp.text(cover.storedAt.milliseconds),
                "freshUntil": cover.freshUntil.map { Timestamp.text($0.milliseconds) },
            ])
            if cover.isStale() { line.add("stale", true) }
        }
        if let absence = history.absence {
            line.add("status", absence.status)
            line.add("answeredAt", Timestamp.text(absence.answeredAt.milliseconds))
            line.add("until", Timestamp.text(absence.until.milliseconds))
        }
        if let target = history.redirect { line.add("redirect", Redaction.redact(target)) }
        return line.text
    }
}
