import GRDB
import Platform

/// The history of a library, the mementos of its clients, and the outbox. It is an SQLite database, because the history is
/// unlimited and a step must be on the disk before the library file changes.
///
/// Steps are numbered from 1. Those up to `done` are in effect; those after it can be redone. `pending` is a step that is
/// recorded but may not be in the library file yet. A process that finds it applies it again before any other edit.
final class AlbumJournal {
    /// The maximum number of mementos. The least recently saved ones are deleted.
    private static let maximumMementos = 1_000
    private let database: DatabaseQueue

    /// - Throws: `DatabaseError`.
    init(path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(15)
        database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { database in
            try database.execute(
                sql: """
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
    func steps() throws -> (undo: AlbumEdit?, redo: AlbumEdit?) {
        try database.read { database in
            let done = try Self.done(database)
            return (try Self.edit(done, database), try Self.edit(done + 1, database))
        }
    }

    enum Step {
        case new(AlbumEdit)
        case undo, redo
    }

    /// What `record` replaced, for `withdraw`.
    struct Record {
        fileprivate var done: Int
        /// The steps from `done` on.
        fileprivate var steps: [(number: Int, edit: String)] = []
        fileprivate var messages: [Int64] = []
    }

    /// Records a step, its change as pending, and the messages to the remote library.
    @discardableResult
    func record(_ step: Step, changing change: AlbumEdit, messages: [RemoteMessage]) throws -> Record {
        try database.write { database in
            let done = try Self.done(database)
            var record = Record(done: done)
            record.steps = try Row.fetchAll(
                database, sql: "SELECT number, edit FROM history WHERE number >= ?", arguments: [done]
            ).map { ($0["number"], $0["edit"]) }
            switch step {
            case .new(let edit):
                try database.execute(sql: "DELETE FROM history WHERE number > ?", arguments: [done])
                try database.execute(
                    sql: "INSERT INTO history (number, edit) VALUES (?, ?)",
                    arguments: [done + 1, try Self.encode(edit)])
                try Self.set("done", done + 1, database)
            case .undo:
                try Self.update(done, with: change, database)
                try Self.set("done", done - 1, database)
            case .redo:
                try Self.update(done + 1, with: change, database)
                try Self.set("done", done + 1, database)
            }
            try Self.set("pending", try Self.encode(change), database)
            for message in messages {
                try Self.insert(message, database)
                record.messages.append(database.lastInsertedRowID)
            }
            return record
        }
    }

    /// Reverts a record whose change could not be written to the library file.
    func withdraw(_ record: Record) throws {
        try database.write { database in
            try database.execute(sql: "DELETE FROM history WHERE number >= ?", arguments: [record.done])
            for (number, edit) in record.steps {
                try database.execute(
                    sql: "INSERT INTO history (number, edit) VALUES (?, ?)", arguments: [number, edit])
            }
            try Self.set("done", record.done, database)
            try database.execute(sql: "DELETE FROM state WHERE name = 'pending'")
            for message in record.messages {
                try database.execute(sql: "DELETE FROM outbox WHERE number = ?", arguments: [message])
            }
        }
    }

    /// The change that may not be in the library file yet.
    func pending() throws -> AlbumEdit? {
        try database.read { database in
            try String.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'pending'")
                .map { try Self.decode($0) }
        }
    }

    /// Records that the pending change is in the library file.
    func clearPending() throws {
        try database.write { try $0.execute(sql: "DELETE FROM state WHERE name = 'pending'") }
    }

    // MARK: Mementos

    func save(_ memento: LibraryMemento, for client: String, now: Int64) throws {
        let text = try Self.encode(memento)
        try database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO mementos (client, memento, used) VALUES (?, ?, ?)",
                arguments: [client, text, now])
            try database.execute(
                sql: """
                    DELETE FROM mementos WHERE client IN (SELECT client FROM mementos ORDER BY used DESC LIMIT -1 OFFSET ?)
                    """, arguments: [Self.maximumMementos])
        }
    }

    func memento(of client: String) throws -> LibraryMemento? {
        try database.read { database in
            try String.fetchOne(database, sql: "SELECT memento FROM mementos WHERE client = ?", arguments: [client])
                .map { try Self.decode($0) }
        }
    }

    // MARK: The outbox

    /// The oldest message to `remote` that has not been refused.
    func firstMessage(to remote: String) throws -> (number: Int64, message: RemoteMessage)? {
        try database.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT number, key, path, body FROM outbox WHERE remote = ? AND refusal IS NULL ORDER BY number LIMIT 1
                    """, arguments: [remote])
            return row.map { row in
                (row["number"], RemoteMessage(remote: remote, key: row["key"], path: row["path"], body: row["body"]))
            }
        }
    }

    func messageCount(to remote: String) throws -> Int {
        try database.read {
            try Int.fetchOne(
                $0, sql: "SELECT count(*) FROM outbox WHERE remote = ? AND refusal IS NULL", arguments: [remote]) ?? 0
        }
    }

    func removeMessage(_ number: Int64) throws {
        try database.write { try $0.execute(sql: "DELETE FROM outbox WHERE number = ?", arguments: [number]) }
    }

    /// Marks a message that the remote library will never accept. It is kept for inspection and no longer sent.
    func refuseMessage(_ number: Int64, _ reason: String) throws {
        try database.write {
            try $0.execute(sql: "UPDATE outbox SET refusal = ? WHERE number = ?", arguments: [reason, number])
        }
    }

    // MARK: Statements

    private static func done(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'done'") ?? 0
    }

    private static func set(_ name: String, _ value: any DatabaseValueConvertible, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)", arguments: [name, value])
    }

    private static func edit(_ number: Int, _ database: Database) throws -> AlbumEdit? {
        try String.fetchOne(database, sql: "SELECT edit FROM history WHERE number = ?", arguments: [number])
            .map { try decode($0) }
    }

    /// Stores deleted albums in the step that deletes them as they were then, for the step that restores them.
    private static func update(_ number: Int, with change: AlbumEdit, _ database: Database) throws {
        guard change.kind == .delete, let edit = try edit(number, database) else { return }
        try database.execute(
            sql: "UPDATE history SET edit = ? WHERE number = ?",
            arguments: [try encode(edit.withAlbums(of: change)), number])
    }

    private static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    private static func decode<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    private static func insert(_ message: RemoteMessage, _ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO outbox (remote, key, path, body) VALUES (?, ?, ?, ?)",
            arguments: [message.remote, message.key, message.path, message.body])
    }
}
