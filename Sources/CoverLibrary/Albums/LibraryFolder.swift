import CoverCache
import GRDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What lies beside a library file, in `<library file>.state/`:
///
/// ```
/// lock                     flock around every edit
/// journal.sqlite3          history, mementos, outbox
/// last-good.json           the library file as it was when it was last whole
/// damaged-2026-….json      a library file that could not be read
/// ```
final class LibraryFolder {
    let path: String
    let lastGood: String
    let journal: AlbumJournal
    let lock: FileLock

    /// Makes what is missing. A journal that is none is set aside.
    /// - Throws: `LibraryError`.
    init(besides file: String, notice: (String) -> Void) throws {
        path = file + ".state"
        lastGood = path + "/last-good.json"
        try? FileManager.default.createDirectory(
            atPath: AtomicFile.folder(of: path), withIntermediateDirectories: true)
        let isMade = mkdir(path, 0o755) == 0 || errno == EEXIST
        let refusal = String(cString: strerror(errno))
        do {
            lock = try FileLock(path: path + "/lock")
        } catch {
            var reason = "\(error)"
            if case .notWritable(_, let why) = error { reason = why }
            throw LibraryError(
                message: "cannot keep the library's history in \(path): \(isMade ? reason : refusal)")
        }
        Self.removeLitter(path)
        journal = try Self.openJournal(path, notice)
    }

    /// What processes that were killed had begun to write: `last-good.json.PID.part`.
    private static func removeLitter(_ folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasSuffix(".part") {
            guard let pid = name.dropLast(5).split(separator: ".").last.flatMap({ pid_t($0) }) else { continue }
            if kill(pid, 0) != 0, errno == ESRCH { unlink("\(folder)/\(name)") }
        }
    }

    private static func openJournal(_ folder: String, _ notice: (String) -> Void) throws -> AlbumJournal {
        let file = folder + "/journal.sqlite3"
        do {
            do {
                return try AlbumJournal(path: file)
            } catch let error as DatabaseError where [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) {
                let aside = "\(folder)/damaged-\(stamp()).sqlite3"
                guard rename(file, aside) == 0 else { throw error }
                notice("the library's history is damaged; set aside as \(aside), a new one begins")
                return try AlbumJournal(path: file)
            }
        } catch {
            throw LibraryError(message: "cannot use the library's history in \(file): \(error)")
        }
    }

    /// Moves a library file that cannot be read out of the way. - Returns: where it is now.
    func setAside(_ file: String) throws -> String {
        let aside = "\(path)/damaged-\(Self.stamp()).json"
        guard rename(file, aside) == 0 else {
            throw LibraryError(message: "cannot move \(file) to \(aside): \(String(cString: strerror(errno)))")
        }
        return aside
    }

    private static func stamp() -> String {
        // Colons are no part of a file's name everywhere.
        Date().ISO8601Format().map { $0 == ":" ? "-" : String($0) }.joined() + "-\(getpid())"
    }
}
