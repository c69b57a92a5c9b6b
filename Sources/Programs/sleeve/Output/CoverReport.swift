import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import Platform

/// Where a cover was looked for: the result of `sleeve why`.
struct CoverReport: Encodable {
    /// `redacted`. Nil for a URL, like all of an album.
    var album: Album?
    /// The path of the file, or the URL, whose cover the gallery and the commands show; nil if none is on this computer.
    var shown: String?
    var sources: [Answer]?
    /// Its cover files.
    var files: [File]?
    /// True if the last scan has found none of the album's songs; nil for false.
    var isGone: Bool?
    /// Why a fill looks for no cover for folders of the album.
    var obstacles: [String]?
    var candidates: [Candidate]?
    /// What the cache knows of the cover's URLs.
    var urls: [Address]

    /// A cover file of the album.
    struct File: Encodable {
        private let path, state: String
        /// The number of the fill that has written it; nil for a person's.
        private let fill: Int64?
        /// Whether its picture is that of the songs' tags; nil for a person's.
        private let fromTags: Bool?
        /// True if it is not certain for today's tags and decisions; nil for false.
        private let outdated: Bool?
        private let cause: OutdatedCover.Cause?
        /// The album that it was written for, if that is another one.
        private var formerAlbum: String?

        private enum CodingKeys: CodingKey { case path, state, fill, fromTags, outdated, formerAlbum }

        private init(
            _ path: BytePath, _ state: String, fill: Int64? = nil, fromTags: Bool? = nil,
            _ cause: OutdatedCover.Cause? = nil
        ) {
            (self.path, self.state, self.fill, self.fromTags) = ("\(path)", state, fill, fromTags)
            (self.cause, outdated) = (cause, cause.map { _ in true })
        }

        /// - Parameters:
        ///   - written: The files that fills have written for the album, and for others that were in its folders.
        ///   - outdated: Those that are not certain for the album's tags by now, by their numbers.
        ///   - names: Of all albums.
        ///   - embedded: The pictures that fills have written into tags.
        static func all(
            of album: Album, written: [Written], outdated: [Int64: OutdatedCover.Cause],
            names: [Album.ID: String], embedded: Set<Digest>, _ places: [AlbumPlace]
        ) -> [File] {
            let tags = Set(places.compactMap(\.embedded?.digest)).subtracting(embedded)
            let isPresent = { (file: Written) in file.state != .removed && file.isThere }
            let found = album.coverFilePath.map { [BytePath(bytes: $0)] } ?? []
            let own = Set(found + places.flatMap(\.covers).map(\.path)).filter { path in
                path.withCString { access($0, F_OK) } == 0 && !written.contains { $0.path == path && isPresent($0) }
            }
            return own.sorted().map { File($0, "yours") }
                + written.filter { $0.album == album.id || isPresent($0) }.map { file in
                    let state =
                        if !isPresent(file) {
                            file.state == .removed ? "removed" : "gone"
                        } else if file.album != album.id {
                            "of another album"
                        } else {
                            file.isUnchanged ? "written" : "changed since"
                        }
                    var found = File(
                        file.path, state, fill: file.run, fromTags: tags.contains(file.digest),
                        state == "written" ? outdated[file.number] : nil)
                    if file.album != album.id { found.formerAlbum = names[file.album] }
                    return found
                }
        }

        fileprivate var text: String {
            let place = fromTags == true ? " from its tags" : ""
            let change =
                switch state {
                case "written": cause.map { "; \($0.reason)" } ?? ""
                case "removed": ", removed by you; `sleeve fill allow` lets it be written again"
                default: ", \(state)\(formerAlbum.map { ": \($0)" } ?? "")"
                }
            return fill.map { "\(path), written by fill \($0)\(place)\(change)" }
                ?? "\(path), \(state); no fill replaces it"
        }
    }

    /// The answer of a service that was asked for the album.
    struct Answer: Encodable {
        fileprivate let source: SourceName
        private let url, answer, detail: String
        /// The answer and its detail, for people.
        private let line: String
        fileprivate let time: Date
        /// Nil for the next run.
        private let askedAgainFrom: Date?

        init(_ answer: SourceAnswer) {
            (source, url, self.answer, detail) = (answer.source, answer.url, answer.kind.rawValue, answer.detail)
            line = answer.text
            time = Date(milliseconds: answer.time)
            askedAgainFrom = answer.lifetime.map { Date(milliseconds: answer.time + $0) }
        }

        fileprivate var text: String {
            guard answer == SourceAnswer.Kind.notFound.rawValue, let askedAgainFrom else { return line }
            return "\(line); asked again from \(askedAgainFrom.ISO8601Format())"
        }

        private enum CodingKeys: CodingKey { case source, url, answer, detail, time, askedAgainFrom }
    }

    /// A cover that a service has offered, or that ids in the tags locate.
    struct Candidate: Encodable {
        fileprivate let source: SourceName
        fileprivate let certainty, reason, artist, title: String
        fileprivate let year, tracks: Int?
        fileprivate let pictures: [String]

        init(_ candidate: SourceCandidate) {
            source = candidate.source
            certainty = candidate.certainty == .none ? "rejected" : candidate.certainty.rawValue
            (reason, artist, title) = (candidate.match.reason, candidate.album.artist, candidate.album.title)
            (year, tracks) = (candidate.album.year, candidate.album.trackCount)
            pictures = candidate.pictures.map { Redaction.redact($0) }
        }
    }

    /// What the cache knows of a URL.
    struct Address: Encodable {
        fileprivate let url: String
        private let state: String
        private let digest: String?
        private let stale: Bool?
        private let storedAt, freshUntil: Date?
        private let status: Int?
        private let answeredAt, until: Date?
        /// What the server answers instead of the cached cover: a status, or the kind of the failure.
        private let answer: String?
        private let failingSince: Date?
        private let gone: Bool?
        /// The answer, for people.
        private let loss: String?

        init(_ history: CoverHistory) {
            url = Redaction.redact(history.location)
            let (cover, absence) = (history.cached, history.absence)
            state = cover != nil ? "cached" : absence != nil ? "absent" : "unknown"
            (digest, stale) = (cover?.digest, cover?.isStale())
            (storedAt, freshUntil) = (cover?.storedAt, cover?.freshUntil)
            (status, answeredAt, until) = (absence?.status, absence?.answeredAt, absence?.until)
            let loss = cover?.loss
            answer = loss.map { loss in loss.status.map { "\($0)" } ?? loss.kind.rawValue }
            (failingSince, gone, self.loss) = (loss?.since, loss?.isGone, loss?.text)
        }

        /// Whether nothing is known.
        fileprivate var isUnknown: Bool { state == "unknown" }

        fileprivate var text: String {
            var facts: [String] = []
            if let storedAt { facts.append("cached since \(storedAt.ISO8601Format())") }
            let end = freshUntil.map { " until \($0.ISO8601Format())" } ?? ""
            if let stale { facts.append(stale ? "stale" : "fresh\(end)") }
            if let loss { facts.append(loss) }
            if let status, let answeredAt, let until {
                facts.append("answered \(status) at \(answeredAt.ISO8601Format())")
                facts.append("not requested again before \(until.ISO8601Format())")
            }
            return facts.isEmpty ? "nothing of it is kept" : facts.joined(separator: ", ")
        }

        private enum CodingKeys: CodingKey {
            case url, state, digest, stale, storedAt, freshUntil, status, answeredAt, until, answer, failingSince, gone
        }
    }

    var text: String {
        var text = ""
        if let album {
            let (artist, year) = (album.artist, album.year)
            text +=
                ((artist.isEmpty ? "" : "\(artist): ") + album.title + (year.isEmpty ? "" : " (\(year))"))
                .withoutControls + "\n"
            if isGone == true { text += "The last scan has found none of its songs.\n" }
            if let shown { text += "Shown: \(shown)".withoutControls + "\n" }
            for file in files ?? [] { text += "Cover file: \(file.text)".withoutControls + "\n" }
            for obstacle in obstacles ?? [] { text += "Not searched for \(obstacle)".withoutControls + "\n" }
            if sources?.isEmpty != false { text += "No service has answered about this album.\n" }
        }
        func add(_ header: [String], _ rows: [[String]]) {
            if rows.isEmpty { return }
            text += (text.isEmpty ? "" : "\n") + TextTable(header, rows).text()
        }
        add(
            ["Service", "When", "Answer"],
            (sources ?? []).map { [$0.source.title, $0.time.ISO8601Format(), $0.text] })
        add(
            ["Found", "At", "Artist", "Album", "Year", "Tracks", "Why"],
            (candidates ?? []).map { found in
                let (year, tracks) = (found.year.map { String($0) } ?? "", found.tracks.map { String($0) } ?? "")
                return [found.certainty, found.source.title, found.artist, found.title, year, tracks, found.reason]
            })
        // A cover that was found has several addresses. Most of them are never requested.
        let found = Set((candidates ?? []).flatMap(\.pictures)).subtracting([album?.coverURL].compactMap(\.self))
        let told = urls.filter { !$0.isUnknown || !found.contains($0.url) }
        add(["Address", "State"], told.map { [$0.url, $0.text] })
        let others = urls.count - told.count
        if others > 0 {
            let count = Decimals.count(
                others, told.isEmpty ? "address" : "more address", told.isEmpty ? "addresses" : "more addresses")
            text +=
                "\(told.isEmpty ? "\n" : "")\(count) of the covers above: nothing of it is kept; --json lists them.\n"
        }
        if urls.isEmpty, let candidates {
            let isRejected = candidates.contains { $0.certainty == "rejected" }
            text += "\nNo address of a cover\(isRejected ? " that was not rejected" : "") is known.\n"
        }
        return text
    }
}

extension CoverListing.Loss {
    fileprivate var text: String {
        let answer =
            switch kind {
            case .status: "answers \(status ?? 0)"
            case .notAnImage: "answers with no picture"
            case .notStorable: "forbids storing it"
            case .placeholder: "gives a placeholder"
            default: "redirects elsewhere"
            }
        return "its server \(answer) since \(since.ISO8601Format())\(isGone ? ": gone, and kept" : "")"
    }
}

extension Album {
    /// The album without credentials in its addresses.
    var redacted: Album {
        var album = self
        album.coverURL = coverURL.map { Redaction.redact($0) }
        let alternates = alternateCoverURLs
        if !alternates.isEmpty { album.alternateCoverURLs = alternates.map { Redaction.redact($0) } }
        return album
    }
}
