import GRDB
import Platform

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

/// The files beside a library file, in `<library file>.state/`:
///
/// ```
/// lock                     flock around every edit
/// journal.sqlite3          history, mementos, outbox
/// last-good.json           a copy of the library file as it was last read whole
/// damaged-2026-….json      a library file that could not be read
/// ```
final class LibraryFolder {
    let path: String
    let lastGood: String
    let journal: AlbumJournal
    let lock: FileLock

    /// Creates missing files. A damaged journal is moved aside.
    /// - Throws: `LibraryError`.
    init(besides file: String, notice: (String) -> Void) throws {
        path = file + ".state"
        lastGood = path + "/last-good.json"
        try? FileManager.default.createDirectory(
            atPath: AtomicFile.directory(of: path), withIntermediateDirectories: true)
        let isMade = mkdir(path, 0o755) == 0 || errno == EEXIST
        let refusal = String(cString: strerror(errno))
        do {
            lock = try FileLock(path: path + "/lock")
        } catch {
            throw LibraryError(
                message: "cannot keep the library's history in \(path): \(isMade ? error.reason : refusal)")
        }
        Self.removeLitter(path)
        journal = try Self.openJournal(path, notice)
    }

    /// Removes the partial files of killed processes: `last-good.json.PID.part`.
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
                notice("the library's history is damaged; moved it to \(aside) and started a new one")
                return try AlbumJournal(path: file)
            }
        } catch {
            throw LibraryError(message: "cannot use the library's history in \(file): \(error)")
        }
    }

    /// Moves an unreadable library file aside. - Returns: its new path.
    func setAside(_ file: String) throws -> String {
        let aside = "\(path)/damaged-\(Self.stamp()).json"
        guard rename(file, aside) == 0 else {
            throw LibraryError(message: "cannot move \(file) to \(aside): \(String(cString: strerror(errno)))")
        }
        return aside
    }

    private static func stamp() -> String {
        // Some file systems allow no colons in names.
        Date().ISO8601Format().map { $0 == ":" ? "-" : String($0) }.joined() + "-\(getpid())"
    }
}
