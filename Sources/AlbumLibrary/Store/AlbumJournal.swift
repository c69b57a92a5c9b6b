import GRDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a library remembers beside its albums: the history, edits on their way to a remote library, and where each client
/// was. In SQLite, because the history has no end and a step must be on the disk before the library file changes.
///
/// The steps are numbered from 1; those up to `done` have been taken, those after it can be redone. `pending` is a step that
/// is recorded but may not be in the library file yet: whoever finds it takes it (again) first.
package final class AlbumJournal {
    /// Mementos of clients that come no more are forgotten beyond this number.
    private static let mostMementos = 1_000
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

    /// What `undo` would take back, and what `redo` would take again.
    package func steps() throws -> (undo: AlbumEdit?, redo: AlbumEdit?) {
        try database.read { database in
            let done = try Self.done(database)
            return (try Self.edit(done, database), try Self.edit(done + 1, database))
        }
    }

    enum Step {
        case new(AlbumEdit)
        case undo, redo
    }

    /// Records a step, what it changes as pending, and what a remote library is to be told of it.
    func record(_ step: Step, changing change: AlbumEdit, messages: [RemoteMessage]) throws {
        try database.write { database in
            let done = try Self.done(database)
            switch step {
            case .new(let edit):
                try database.execute(sql: "DELETE FROM history WHERE number > ?", arguments: [done])
                try database.execute(
                    sql: "INSERT INTO history (number, edit) VALUES (?, ?)", arguments: [done + 1, try Self.text(edit)])
                try Self.set("done", done + 1, database)
            case .undo:
                try Self.remember(change, in: done, database)
                try Self.set("done", done - 1, database)
            case .redo:
                try Self.remember(change, in: done + 1, database)
                try Self.set("done", done + 1, database)
            }
            try Self.set("pending", try Self.text(change), database)
            for message in messages { try Self.insert(message, database) }
        }
    }

    /// The change that may not be in the library file yet.
    func pending() throws -> AlbumEdit? {
        try database.read { database in
            try String.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'pending'")
                .map { try JSONDecoder().decode(AlbumEdit.self, from: Data($0.utf8)) }
        }
    }

    /// The pending change is in the library file.
    func settle() throws {
        try database.write { try $0.execute(sql: "DELETE FROM state WHERE name = 'pending'") }
    }

    // MARK: Mementos

    package func save(_ memento: LibraryMemento, for client: String, now: Int64) throws {
        let text = String(decoding: try JSONEncoder().encode(memento), as: UTF8.self)
        try database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO mementos (client, memento, used) VALUES (?, ?, ?)",
                arguments: [client, text, now])
            try database.execute(
                sql: """
                    DELETE FROM mementos WHERE client IN (SELECT client FROM mementos ORDER BY used DESC LIMIT -1 OFFSET ?)
                    """, arguments: [Self.mostMementos])
        }
    }

    package func memento(of client: String) throws -> LibraryMemento? {
        try database.read { database in
            try String.fetchOne(database, sql: "SELECT memento FROM mementos WHERE client = ?", arguments: [client])
                .map { try JSONDecoder().decode(LibraryMemento.self, from: Data($0.utf8)) }
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

    /// The remote library will never take it; it is kept, for a person to look at, and stands in nobody's way.
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
            .map { try JSONDecoder().decode(AlbumEdit.self, from: Data($0.utf8)) }
    }

    /// A step that takes albums out of the library keeps them as they were then, for the step that brings them back.
    private static func remember(_ change: AlbumEdit, in number: Int, _ database: Database) throws {
        guard change.kind == .delete, let edit = try edit(number, database) else { return }
        try database.execute(
            sql: "UPDATE history SET edit = ? WHERE number = ?",
            arguments: [try text(edit.remembering(change)), number])
    }

    private static func text(_ edit: AlbumEdit) throws -> String {
        String(decoding: try JSONEncoder().encode(edit), as: UTF8.self)
    }

    private static func insert(_ message: RemoteMessage, _ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO outbox (remote, key, path, body) VALUES (?, ?, ?, ?)",
            arguments: [message.remote, message.key, message.path, message.body])
    }
}
