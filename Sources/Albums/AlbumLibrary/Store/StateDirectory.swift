import Files
import Platform
import SQLite

/// The directory beside a library file, `<library file>.state/`:
///
/// ```
/// lock                     flock around every edit
/// outbox.lock              flock of the process that sends the outbox
/// journal.sqlite3          history, mementos, outbox
/// last-good.json           a copy of the library file, made when it was last read without an error
/// damaged-2026-….json      a library file that could not be read
/// music.lock               flock of the process that scans music folders
/// music.sqlite3            what the room MusicFolder remembers of them
/// sources.sqlite3          what the room CoverSources remembers of what it asked
/// steps/                   files of people that are being replaced, by the room Files
/// library-id               names the library where the room MusicFolder exports it
/// token                    the token of the room CoverGallery
/// ```
final class StateDirectory {
    let path: String
    let lastGood: String
    let journal: AlbumJournal
    let lock: FileLock
    /// Steps of replacing the library file.
    let steps: StepJournal

    /// The state directory of a library file.
    static func path(of file: String) -> String { file + ".state" }

    /// Creates missing files. Moves a damaged journal aside.
    /// - Throws: `LibraryError`.
    init(of file: String, notice: (String) -> Void) throws {
        path = Self.path(of: file)
        lastGood = path + "/last-good.json"
        AlbumFile.createDirectory(of: file)
        var refusal: String?
        // Addresses of covers may grant access.
        do throws(SystemError) { try OwnedPath.makeFolder(path) } catch { refusal = error.reason }
        do {
            lock = try FileLock(path: path + "/lock")
        } catch {
            throw LibraryError.unusableHistory(path: path, reason: refusal ?? error.reason)
        }
        _ = try? OpenFolder(path: path).sweep()
        steps = StepJournal(directory: path + "/steps")
        for repaired in steps.recover() { notice(repaired.message) }
        journal = try Self.openJournal(path, notice)
    }

    private static func openJournal(_ directory: String, _ notice: (String) -> Void) throws -> AlbumJournal {
        let file = directory + "/journal.sqlite3"
        do {
            return try DamagedFile.replacing(
                file, name: "history",
                notice: { notice("the library's history is damaged; moved it to \($0) and started a new one") },
                { try AlbumJournal(path: $0) })
        } catch {
            throw LibraryError.unusableHistory(path: file, reason: "\(error)")
        }
    }

    /// Moves an unreadable library file into the directory. - Returns: its new path.
    func moveAside(_ file: String) throws -> String {
        let aside = DamagedFile.newPath(path + "/damaged", ".json")
        if rename(file, aside) == 0 { return aside }
        // A mount point cannot be moved. It is copied, and overwritten by the caller.
        guard errno == EBUSY, (try? FileManager.default.copyItem(atPath: file, toPath: aside)) != nil else {
            throw LibraryError(SystemError("move", path: aside))
        }
        return aside
    }
}
