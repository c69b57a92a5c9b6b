import Files
import Logging
import Platform

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
    var mayBeIncomplete: Bool { secondsSinceChange < savingTimeout }

    private var secondsSinceChange: Double {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let changed = attributes?[.modificationDate] as? Date else { return .infinity }
        let age = Date().timeIntervalSince(changed)
        return age >= 0 ? age : .infinity
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
        let replacement = try prepare(albums)
        try replace(replacement, with: albums, state, ifStill: revision)
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
                let copy = try AtomicFile(Array(former), replacing: state.lastGood)
                try copy.replace()
            }
            try AtomicFile.overwrite(path, with: AlbumFile.text(of: albums))
        }
    }

    /// Copies albums that were read without an error to the state directory, if that is open. Ignores a failure.
    func keepLastGood(_ albums: [Album]) {
        let bytes = AlbumFile.text(of: albums)
        guard let state, FileManager.default.contents(atPath: state.lastGood).map({ Array($0) }) != bytes,
            let copy = try? AtomicFile(bytes, replacing: state.lastGood)
        else { return }
        try? copy.replace()
    }
}
