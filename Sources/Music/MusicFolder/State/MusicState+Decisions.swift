package import AlbumLibrary
package import CoverSources
import Files
import Platform
import SQLite

/// What a person has decided about the covers of albums: the one place of it. Rows are only added, or marked as undone.
///
/// A copy is beside the database, a line of JSON for each decision as it is made, and again once it is undone: from it they come back when the
/// database is lost. No lock of a fill is needed.
extension MusicState {
    static let decisionsSchema = """
        CREATE TABLE IF NOT EXISTS decisions (
            number INTEGER PRIMARY KEY, album TEXT NOT NULL, picture TEXT NOT NULL, verdict TEXT NOT NULL,
            certain INTEGER NOT NULL, time INTEGER NOT NULL, run INTEGER, undone INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS decisions_album ON decisions(album);
        CREATE TABLE IF NOT EXISTS addresses (album TEXT PRIMARY KEY, urls TEXT NOT NULL) WITHOUT ROWID;
        """

    private var decisionsCopy: BytePath { BytePath(AlbumStore.stateDirectory(of: library) + "/decisions.jsonl") }

    /// By the ids of their albums.
    package func decisions() throws(Problem) -> [String: Decisions] {
        Dictionary(grouping: try rows("WHERE undone = 0"), by: \.album).mapValues { Decisions($0) }
    }

    /// What was decided about an album by now, also by another process.
    package func decisions(of album: String) throws(Problem) -> Decisions {
        Decisions(try rows("WHERE album = ? AND undone = 0", .text(album)))
    }

    /// The acceptances that count.
    package func acceptances() throws(Problem) -> [Decision] {
        try decisions().values.compactMap(\.acceptance)
    }

    private func rows(_ condition: String, _ value: SQLValue? = nil) throws(Problem) -> [Decision] {
        try all(
            "SELECT number, album, picture, verdict, certain, time, run, undone FROM decisions \(condition)", value
        ) { row in
            guard let picture: PictureName = row.json(2), let verdict = Decision.Verdict(rawValue: row.text(3)) else {
                return nil
            }
            var decision = Decision(
                verdict, picture, of: row.text(1), wasCertain: row.int(4) != 0, run: row.optionalInt64(6),
                time: row.int64(5))
            (decision.number, decision.isUndone) = (row.int64(0), row.int(7) != 0)
            return decision
        }
    }

    /// Adds decisions, all or none.
    package func add(_ decisions: [Decision]) throws(Problem) {
        if decisions.isEmpty { return }
        // Those of a lost database come first.
        _ = try restoreDecisions()
        try transaction {
            let last = try database.integer("SELECT max(number) FROM decisions") ?? 0
            let numbered = decisions.enumerated().map { index, decision in
                var decision = decision
                decision.number = last + Int64(index) + 1
                return decision
            }
            try write(numbered)
        }
    }

    /// What the command of a fill has accepted is accepted no longer: what was said before counts.
    package func withdrawDecisions(ofRun run: Int64) throws(Problem) {
        try transaction {
            var decisions = try rows("WHERE run = \(run) AND undone = 0")
            if decisions.isEmpty { return }
            for index in decisions.indices { decisions[index].isUndone = true }
            try write(decisions)
        }
    }

    /// Takes back what was said about covers of an album.
    package func allow(_ covers: [SourceCandidate], of album: String) throws(Problem) {
        try add(decisions(of: album).allowing(covers))
        guard covers.contains(where: { $0.match == .refused && $0.name.isAddress }) else { return }
        // It is what the album has, as before it was refused.
        try transaction { try database.statement("DELETE FROM addresses WHERE album = ?").run(.text(album)) }
    }

    /// With what the addresses of albums say that no command has written down yet.
    /// - Parameter filled: The addresses that they have from fills.
    package func decisions(
        with albums: [Album], _ filled: [String: FilledAddress]
    ) throws(Problem) -> [String: Decisions] {
        var decisions = albums.count == 1 ? [albums[0].id: try decisions(of: albums[0].id)] : try decisions()
        for (album, said) in Dictionary(grouping: try given(to: albums, filled).said, by: \.album) {
            decisions[album] = (decisions[album] ?? .init()).adding(said.reversed())
        }
        return decisions
    }

    /// A picture was at the address that a person gave an album: it is the one that is accepted from now on.
    func noteSeen(_ picture: PictureName, for album: String) throws(Problem) {
        guard var accepted = try decisions(of: album).acceptance, accepted.picture.isAddress else { return }
        accepted.picture.digest = picture.digest
        try transaction { try write([accepted]) }
    }

    /// Writes down that the addresses of the library's albums are acceptances.
    package func acceptAddresses(of library: [Album]) throws(Problem) {
        let (said, changed) = try given(to: library, try filledAddresses())
        if changed.isEmpty { return }
        try add(said.filter { $0.number == 0 })
        try transaction {
            try write(said.filter(\.isUndone))
            for (album, urls) in changed {
                try database.statement("INSERT OR REPLACE INTO addresses VALUES (?, ?)").run(.text(album), .json(urls))
            }
        }
    }

    /// An address that a person, or a list, gave to a scanned album since the last command is an acceptance, unless it was refused. One that was
    /// taken away is none any more: what was accepted before counts.
    private func given(
        to library: [Album], _ filled: [String: FilledAddress]
    ) throws(Problem) -> (said: [Decision], changed: [String: [String]]) {
        var known: [String: [String]] = [:]
        try reading {
            let rows = database.statement(
                "SELECT id, urls FROM records LEFT JOIN addresses ON album = id WHERE id = ?1 OR ?1 IS NULL")
            try rows.each(.optional(library.count == 1 ? library[0].id : nil)) { known[$0.text(0)] = $0.json(1) ?? [] }
        }
        var (said, changed): ([Decision], [String: [String]]) = ([], [:])
        for album in library {
            let urls = album.givenAddresses(besides: filled[album.id])
            guard let former = known[album.id], former != urls else { continue }
            changed[album.id] = urls
            var decisions = try decisions(of: album.id)
            if var accepted = decisions.acceptance, accepted.picture.isOfPerson(at: former) {
                accepted.isUndone = true
                said.append(accepted)
                decisions = decisions.adding([accepted])
                if urls.isEmpty { said.append(Decision(.allowed, accepted.picture, of: album.id)) }
            }
            let picture = PictureName(.picture, AlbumQuery(album), urls: urls)
            if !urls.isEmpty, ![.accepted, .refused].contains(decisions.ruling(on: picture)) {
                said.append(Decision(.accepted, picture, of: album.id))
            }
        }
        return (said, changed)
    }

    /// Into the database and its copy.
    private func write(_ decisions: [Decision]) throws {
        if decisions.isEmpty { return }
        try insert(decisions)
        try addToCopy(decisions)
    }

    private func insert(_ decisions: [Decision]) throws {
        for decision in decisions {
            try database.statement("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)").run(
                .int(decision.number), .text(decision.album), .json(decision.picture), .text(decision.verdict.rawValue),
                .int(decision.wasCertain ? 1 : 0), .int(decision.time), decision.run.map { .int($0) } ?? .null,
                .int(decision.isUndone ? 1 : 0))
        }
    }

    /// Before the transaction ends: what is in the database is in the copy, too. A line that a kill has cut off ends at the next break.
    private func addToCopy(_ decisions: [Decision]) throws {
        let lines = try decisions.map { "\n" + String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }
        guard let folder = decisionsCopy.parent, let name = FileName(decisionsCopy.name) else { return }
        try OpenFolder(path: folder.bytes).append(Array(lines.joined().utf8), to: name)
    }

    /// Reads the copy into a database that has no decisions. - Returns: Their number.
    func restoreDecisions() throws(Problem) -> Int {
        let last = { try self.database.integer("SELECT max(number) FROM decisions") }
        guard try reading(last) == nil, let data = FileManager.default.contents(atPath: "\(decisionsCopy)") else {
            return 0
        }
        let lines = data.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(Decision.self, from: $0)
        }
        let decisions = Dictionary(lines.map { ($0.number, $0) }) { $1 }.values
        try transaction {
            if try last() == nil { try insert(Array(decisions)) }
        }
        return decisions.count
    }
}

extension Album {
    /// The URLs that a person or a list gave it, in the order of trying. - Parameter filled: What fills have given it.
    fileprivate func givenAddresses(besides filled: FilledAddress?) -> [String] {
        let first = filled?.isAddress(of: self) == true ? nil : coverURL
        return [first].compactMap(\.self).filter { !$0.isEmpty } + alternateCoverURLs
    }
}

extension PictureName {
    fileprivate func isOfPerson(at urls: [String]) -> Bool { source == .picture && self.urls == urls }
}
