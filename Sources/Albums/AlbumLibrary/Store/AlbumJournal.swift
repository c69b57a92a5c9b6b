import Platform
import SQLite

/// The history of a library, the mementos of its clients, and the outbox. It is an SQLite database, because the history is
/// unlimited and a step must be on the disk before the library file changes.
///
/// Steps are numbered from 1. Those up to `done` are in effect; those after it can be redone. `pending` is a step that is
/// recorded but may not be in the library file yet. A process that finds it applies it again before any other edit. `edits`
/// counts the edits, undos and redos.
final class AlbumJournal {
    /// The maximum number of mementos. The least recently saved ones are deleted.
    private static let maximumMementos = 1_000
    private let database: Connection

    /// - Throws: `SQLiteError`.
    init(path: String) throws {
        database = try Connection(path, busyTimeout: .seconds(15), mustSync: false)
        try database.transaction(.immediate) {
            try database.execute(
                """
                CREATE TABLE IF NOT EXISTS history (number INTEGER PRIMARY KEY, edit TEXT NOT NULL);
                CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS mementos (
                    client TEXT PRIMARY KEY, memento TEXT NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS outbox (
                    number INTEGER PRIMARY KEY AUTOINCREMENT, remote TEXT NOT NULL, key TEXT NOT NULL,
                    path TEXT NOT NULL, body TEXT NOT NULL, refusal TEXT);
                """)
        }
    }

    // MARK: History

    /// The steps that `undo` would revert and `redo` repeat.
    func steps() throws -> AlbumHistory {
        try database.transaction(.deferred) {
            let (done, number) = (try integer("done"), try integer("edits"))
            var steps = AlbumHistory()
            (steps.undo, steps.redo) = (try edit(done), try edit(done + 1))
            steps.undo?.number = number
            steps.redo?.number = number
            return steps
        }
    }

    enum Step {
        /// An edit that is a step of its own; or, if `run` is the last step's, a part of it.
        case new(AlbumEdit, run: String? = nil)
        case undo, redo
    }

    /// The rows that `record` replaced, for `withdraw`.
    struct Record {
        /// The number of the change.
        var number: Int
        fileprivate var done: Int
        /// As in the table of the state.
        fileprivate var run: String
        /// The steps from `done` on.
        fileprivate var steps: [(number: Int, edit: String)] = []
        fileprivate var messages: [Int64] = []
    }

    /// Records a step, its change as pending, and the messages to the remote library.
    @discardableResult
    func record(_ step: Step, changing change: AlbumEdit, messages: [RemoteMessage]) throws -> Record {
        try database.transaction(.immediate) {
            let done = try integer("done")
            var record = Record(number: try integer("edits") + 1, done: done, run: try run())
            try database.statement("SELECT number, edit FROM history WHERE number >= ?").each(.int(done)) { row in
                record.steps.append((row.int(0), row.text(1)))
            }
            switch step {
            case .new(let edit, let run):
                try database.statement("DELETE FROM history WHERE number > ?").run(.int(done))
                if let joined = try lastStep(done, of: run, joining: edit) {
                    try replace(done, with: joined)
                } else {
                    try add(done + 1, try Self.encode(edit))
                    try set("done", .int(done + 1))
                    // Without a run, no later edit joins the step.
                    try set("run", .text(run.map { "\(done + 1) \($0)" } ?? ""))
                }
            case .undo:
                try update(done, with: change)
                try set("done", .int(done - 1))
            case .redo:
                try update(done + 1, with: change)
                try set("done", .int(done + 1))
            }
            try set("edits", .int(record.number))
            try set("pending", .text(try Self.encode(change)))
            for message in messages { record.messages.append(try insert(message)) }
            return record
        }
    }

    /// Reverts a record whose change could not be written to the library file.
    func withdraw(_ record: Record) throws {
        try database.transaction(.immediate) {
            try database.statement("DELETE FROM history WHERE number >= ?").run(.int(record.done))
            for (number, edit) in record.steps { try add(number, edit) }
            try set("done", .int(record.done))
            try set("run", .text(record.run))
            try set("edits", .int(record.number - 1))
            try deletePending()
            for message in record.messages { try removeMessage(message) }
        }
    }

    /// The change that may not be in the library file yet.
    func pending() throws -> AlbumEdit? {
        try database.statement("SELECT value FROM state WHERE name = 'pending'").first { try Self.decode($0.text(0)) }
    }

    /// Records that the pending change is in the library file.
    func clearPending() throws { try database.transaction(.immediate) { try deletePending() } }

    private func deletePending() throws { try database.statement("DELETE FROM state WHERE name = 'pending'").run() }

    /// Visits every text that may name an album's cover: those of the history, of a pending step, and of the outbox.
    func everyText(_ visit: (String) -> Void) throws {
        try database.statement(
            "SELECT edit FROM history UNION ALL SELECT value FROM state UNION ALL SELECT body FROM outbox"
        )
        .each { visit($0.text(0)) }
    }

    // MARK: Mementos

    func save(_ memento: LibraryMemento, for client: String, now: Int64) throws {
        let text = try Self.encode(memento)
        try database.transaction(.immediate) {
            try database.statement("INSERT OR REPLACE INTO mementos (client, memento, used) VALUES (?, ?, ?)")
                .run(.text(client), .text(text), .int(now))
            try database.statement(
                """
                DELETE FROM mementos WHERE client IN (SELECT client FROM mementos ORDER BY used DESC LIMIT -1 OFFSET ?)
                """
            ).run(.int(Self.maximumMementos))
        }
    }

    func memento(of client: String) throws -> LibraryMemento? {
        try database.statement("SELECT memento FROM mementos WHERE client = ?")
            .first(.text(client)) { try Self.decode($0.text(0)) }
    }

    // MARK: The outbox

    /// The oldest message to `remote` that has not been refused.
    func firstMessage(to remote: String) throws -> (number: Int64, message: RemoteMessage)? {
        try database.statement(
            """
            SELECT number, key, path, body FROM outbox WHERE remote = ? AND refusal IS NULL ORDER BY number LIMIT 1
            """
        ).first(.text(remote)) { row in
            (row.int64(0), RemoteMessage(remote: remote, key: row.text(1), path: row.text(2), body: row.text(3)))
        }
    }

    func messageCount(to remote: String) throws -> Int {
        try database.statement("SELECT count(*) FROM outbox WHERE remote = ? AND refusal IS NULL")
            .first(.text(remote)) { $0.int(0) } ?? 0
    }

    func removeMessage(_ number: Int64) throws {
        try database.statement("DELETE FROM outbox WHERE number = ?").run(.int(number))
    }

    /// Marks a message that the remote library will never accept. It is kept for inspection and no longer sent.
    func refuseMessage(_ number: Int64, _ reason: String) throws {
        try database.statement("UPDATE outbox SET refusal = ? WHERE number = ?").run(.text(reason), .int(number))
    }

    // MARK: Statements

    private func integer(_ name: String) throws -> Int {
        try database.statement("SELECT value FROM state WHERE name = ?").first(.text(name)) { $0.int(0) } ?? 0
    }

    /// The last step and the run that it is of; empty if it is of none.
    private func run() throws -> String {
        try database.statement("SELECT value FROM state WHERE name = 'run'").first { $0.text(0) } ?? ""
    }

    private func set(_ name: String, _ value: SQLValue) throws {
        try database.statement("INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)").run(.text(name), value)
    }

    private func edit(_ number: Int) throws -> AlbumEdit? {
        try database.statement("SELECT edit FROM history WHERE number = ?")
            .first(.int(number)) { try Self.decode($0.text(0)) }
    }

    private func add(_ number: Int, _ edit: String) throws {
        try database.statement("INSERT INTO history (number, edit) VALUES (?, ?)").run(.int(number), .text(edit))
    }

    /// Stores deleted albums in the step that deletes them as they were then, for the step that restores them.
    private func update(_ number: Int, with change: AlbumEdit) throws {
        guard change.kind == .delete, let edit = try edit(number) else { return }
        try replace(number, with: edit.withAlbums(of: change))
    }

    private func replace(_ number: Int, with edit: AlbumEdit) throws {
        try database.statement("UPDATE history SET edit = ? WHERE number = ?")
            .run(.text(try Self.encode(edit)), .int(number))
    }

    /// The last step with an edit of its run; nil if the run did not take it, or the two are of different kinds.
    private func lastStep(_ done: Int, of run: String?, joining edit: AlbumEdit) throws -> AlbumEdit? {
        guard let run, try self.run() == "\(done) \(run)", edit.kind == .edit, let last = try self.edit(done),
            last.kind == .edit
        else { return nil }
        return last.joined(with: edit)
    }

    private func insert(_ message: RemoteMessage) throws -> Int64 {
        let insertion = database.statement("INSERT INTO outbox (remote, key, path, body) VALUES (?, ?, ?, ?)")
        try insertion.run(.text(message.remote), .text(message.key), .text(message.path), .text(message.body))
        return insertion.lastInsertedRow
    }

    private static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    private static func decode<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}

/// A client's position in the library: the chosen album and the scroll position.
public struct LibraryMemento: Codable, Hashable, Sendable {
    /// The chosen album's id; `nil` if none was chosen.
    public var album: String?
    /// The chosen album's index in the library, from 0.
    public var index: Int
    /// The scroll position in covers: 3.5 is half-way between the fourth and the fifth.
    public var position: Double
    /// The client's own name for the sort order.
    public var order: String
    /// The client's own name for its view of the albums; `nil` for its usual one.
    public var view: String?
    /// The size at which that view shows a cover, in pixels; `nil` for its usual size.
    public var tileSize: Int?
    /// Ids of the albums around the chosen one, the nearest first. One of them replaces it after its deletion.
    var neighbours: [String] = []

    /// Creates a memento of a client's position.
    public init(album: String?, index: Int, position: Double, order: String = "library") {
        self.album = album
        self.index = index
        self.position = position
        self.order = order
    }

    /// The number of neighbours stored on either side.
    private static let reach = 8

    /// The memento with the neighbours of its album in `albums`.
    func addingNeighbours(in albums: [Album]) -> LibraryMemento {
        var memento = self
        // A client may send any index.
        memento.index = albums.firstIndex { $0.id == album } ?? min(max(index, 0), max(albums.count - 1, 0))
        // If the album is missing, the one at its index is a neighbour.
        let centre = memento.index
        let indices = [centre] + (1...Self.reach).flatMap { [centre + $0, centre - $0] }
        memento.neighbours = indices.filter(albums.indices.contains).map { albums[$0].id }.filter { $0 != album }
        return memento
    }

    /// The same position in `albums`: at the album, else at its nearest remaining neighbour, else at its index, else at the
    /// last album. The distance of the scroll position to the album stays.
    public func restored(in albums: [Album]) -> LibraryMemento {
        var memento = self
        if albums.isEmpty {
            (memento.album, memento.index, memento.position) = (nil, 0, 0)
            return memento
        }
        let indices = Dictionary(albums.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        let found = ([album].compactMap(\.self) + neighbours).lazy.compactMap { indices[$0] }.first
        memento.index = found ?? min(max(index, 0), albums.count - 1)
        memento.album = albums[memento.index].id
        let distance = position.isFinite ? position - Double(index) : 0
        memento.position = min(max(Double(memento.index) + distance, 0), Double(albums.count - 1))
        return memento
    }
}
