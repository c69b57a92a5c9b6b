import Dispatch
import Files
import Logging
import Platform
import SQLite

/// The library file and its state directory: reads the albums, repairs a damaged file, replaces the file.
final class LibraryFile {
    let path: String
    private let logger: Logger
    /// A damaged file is read again for this time after its last change, in seconds: an editor may still be saving it.
    private let savingTimeout: Double
    private var state: StateDirectory?

    init(path: String, logger: Logger, savingTimeout: Double) {
        // A library has one lock and one history, whatever links lead to it.
        self.path = FilePath.resolvingLinks(path)
        self.logger = logger
        self.savingTimeout = savingTimeout
    }

    /// The state directory. The first call opens it.
    func openState() throws -> StateDirectory {
        if let state { return state }
        let opened = try StateDirectory(of: path) { logger.warning("\($0)") }
        state = opened
        return opened
    }

    /// Changes whenever the file does.
    var revision: String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "none" }
        let time = status.modificationTime
        return [Int(status.st_ino), Int(status.st_size), Int(time.tv_sec), Int(time.tv_nsec)]
            .map { String($0, radix: 36) }.joined(separator: "-")
    }

    // MARK: Reading

    /// Whether there is a library. If there is none, it has no albums, and reading it creates nothing.
    var exists: Bool { AlbumFile.exists(path) }

    /// The albums in the file; none if there never was one. Takes no lock.
    func read() throws -> [Album] { exists ? try AlbumFile.read(path) : [] }

    /// The albums in the file, from its last good copy if the file is damaged or missing. Call it with the lock held.
    func readOrRepair(_ state: StateDirectory) throws -> [Album] { try retrying { try readOrRestore(state) } }

    private func readOrRestore(_ state: StateDirectory) throws -> [Album] {
        var revision = self.revision
        let exists = FileManager.default.fileExists(atPath: path)
        do {
            if exists || !FileManager.default.fileExists(atPath: state.lastGood) { return try read() }
        } catch {
            while mayBeIncomplete {
                usleep(100_000)
                if let albums = try? AlbumFile.read(path) { return albums }
            }
            // What is moved aside is what could not be read.
            if self.revision != revision { throw Changed() }
            guard access(path, R_OK) == 0, (try? AlbumFile.read(state.lastGood)) != nil else { throw error }
            let aside = try state.moveAside(path)
            logger.warning("\(error); moved it to \(aside) and restored the last good copy")
        }
        if access(path, F_OK) != 0 { revision = self.revision }
        let albums = try AlbumFile.read(state.lastGood)
        if !exists { logger.warning("\(path) is missing; restored the last good copy from \(state.lastGood)") }
        try write(albums, state, ifStill: revision)
        return albums
    }

    /// Whether the file is missing and has a last good copy.
    var mustBeRestored: Bool {
        guard let state, !FileManager.default.fileExists(atPath: path) else { return false }
        return FileManager.default.fileExists(atPath: state.lastGood)
    }

    /// Whether the file has changed so recently that another program may still be writing it.
    var mayBeIncomplete: Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let changed = attributes?[.modificationDate] as? Date else { return false }
        return (0..<savingTimeout).contains(Date().timeIntervalSince(changed))
    }

    // MARK: Writing

    /// Writes the albums beside the file, which `replace()` of the result then replaces. Call it with the lock held.
    func prepare(_ albums: [Album]) throws -> AtomicFile {
        try AtomicFile(
            AlbumFile.text(of: albums), replacing: path, sweeps: true, mode: 0o600, looks: true, journal: state?.steps)
    }

    /// Another program has changed the file since it was read.
    struct Changed: Error {}

    /// The times that a file is read again which changes meanwhile.
    private static let maximumTries = 20

    /// Calls `body` again as long as the file changes between its reading and its writing.
    func retrying<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 1...Self.maximumTries {
            do {
                return try body()
            } catch is Changed {}
        }
        throw LibraryError.unwritableFile(path: path, reason: "another program changes it all the time")
    }

    /// Replaces the file. Call it with the lock held.
    func write(_ albums: [Album], _ state: StateDirectory, ifStill revision: String) throws {
        try replace(prepare(albums), with: albums, state, ifStill: revision)
        keepLastGood(albums)
    }

    /// Replaces the file by `replacement`, which holds `albums`. A file that is a mount point is overwritten instead. Call it
    /// with the lock held.
    /// - Parameter revision: The file's, as of before it was read.
    /// - Throws: `Changed` or `SystemError`; the file is as it was then.
    func replace(
        _ replacement: AtomicFile, with albums: [Album], _ state: StateDirectory, ifStill revision: String
    ) throws {
        if self.revision != revision { throw Changed() }
        do throws(SystemError) {
            try replacement.replace()
        } catch {
            if error.number == ESTALE { throw Changed() }
            // If a crash tears the file, the next process restores this copy and repeats the pending step.
            guard error.number == EBUSY, let former = FileManager.default.contents(atPath: path) else { throw error }
            if (try? AlbumFile.read(path)) != nil {
                try AtomicFile(Array(former), replacing: state.lastGood).replace()
            }
            try AtomicFile.overwrite(path, with: AlbumFile.text(of: albums))
        }
    }

    /// Copies albums that were read without an error to the state directory, if that is open. Ignores a failure.
    func keepLastGood(_ albums: [Album]) {
        let bytes = AlbumFile.text(of: albums)
        guard let state, FileManager.default.contents(atPath: state.lastGood) != Data(bytes) else { return }
        try? AtomicFile(bytes, replacing: state.lastGood).replace()
    }
}

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
        let history = path + "/journal.sqlite3"
        do {
            journal = try DamagedFile.replacing(
                history, name: "history",
                notice: { notice("the library's history is damaged; moved it to \($0) and started a new one") },
                { try AlbumJournal(path: $0) })
        } catch {
            throw LibraryError.unusableHistory(path: history, reason: "\(error)")
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

/// Reports changes of the names in a folder, and files there that were written: inotify(7), on macOS kqueue(2), which does not report a file
/// that is overwritten. What another machine changes on a network disk is not reported.
enum FolderChanges {
    /// One element for any number of changes. Ends immediately if the folder cannot be watched.
    static func stream(of folder: String) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard let descriptor = descriptor(watching: folder) else {
            continuation.finish()
            return stream
        }
        // because: Dispatch's sources may be cancelled on any thread.
        #if canImport(Darwin)
            nonisolated(unsafe) let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: .write)
        #else
            nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
        #endif
        source.setEventHandler {
            // Which names they are does not matter: looking at the library file again is cheap.
            var events = [UInt8](repeating: 0, count: 4_096)
            while read(descriptor, &events, events.count) > 0 {}
            continuation.yield()
        }
        source.setCancelHandler { close(descriptor) }
        continuation.onTermination = { _ in source.cancel() }
        source.activate()
        return stream
    }

    private static func descriptor(watching folder: String) -> Int32? {
        #if canImport(Darwin)
            let descriptor = open(folder, O_EVTONLY | O_CLOEXEC)
            return descriptor < 0 ? nil : descriptor
        #else
            let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let changes = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE
            if inotify_add_watch(descriptor, folder, UInt32(changes)) >= 0 { return descriptor }
            close(descriptor)
            return nil
        #endif
    }
}
