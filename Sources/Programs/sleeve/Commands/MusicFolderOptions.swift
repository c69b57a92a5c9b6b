import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform

/// Which folders a command scans.
struct MusicFolders: ParsableArguments {
    @Argument(help: ArgumentHelp("Music folders.", valueName: "dir"), completion: .directory)
    var folders: [String] = []

    @Flag(help: "Follow symbolic links that lead out of the folder.")
    var follow = false

    /// What is to be scanned.
    /// - Parameter remembered: The folders if none is named.
    /// - Returns: The scan, and the number of folders that are not there, each after a message.
    /// - Throws: An exit code, after a message, if none is there.
    func scan(else remembered: [BytePath] = []) throws -> (scan: MusicScan, missing: Int) {
        let named = folders.isEmpty ? remembered : folders.map { BytePath($0) }
        let roots = Self.roots(named)
        if folders.isEmpty, roots.count < named.count {
            Log.error("`sleeve album scan DIR --prune` forgets scanned folders that are gone")
        }
        if roots.isEmpty { throw ExitStatus.couldNotRun }
        var scan = MusicScan(roots, start: try TagsWorker.starter())
        scan.followsOutside = follow
        // A worker waits for the disk now and then.
        scan.workers = min(max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 1), 16)
        return (scan, named.count - roots.count)
    }

    /// The folders that were scanned for the library; empty if folders are named.
    /// - Parameter purpose: What folders are to be named for, as an infinitive.
    /// - Throws: An exit code, after a message, if there are none.
    func remembered(_ state: MusicState, to purpose: String) throws -> [BytePath] {
        if !folders.isEmpty { return [] }
        let roots = try state.roots()
        if !roots.isEmpty { return roots }
        throw fail(
            "no folder was scanned for this library: name the music folders \(purpose), or `sleeve album scan` them")
    }

    /// The folders without links.
    private static func roots(_ folders: [BytePath]) -> [BytePath] {
        var found: [BytePath] = []
        for folder in folders {
            guard let path = folder.resolved else {
                Log.error("\(folder): \(SystemError("open").reason)")
                continue
            }
            if ["/", "/proc", "/sys", "/dev"].contains("\(path)") {
                Log.error("\(folder): is the system's; name a folder of music")
                continue
            }
            // Only a folder has an entry of this name.
            if path.appending([UInt8(ascii: ".")]).withCString({ access($0, F_OK) }) != 0, errno == ENOTDIR {
                Log.error("\(folder): is no folder")
            } else if !found.contains(path) {
                found.append(path)
            }
        }
        return found
    }
}

/// Options of the commands that update the library from music folders, and the scan.
struct MusicFolderOptions: ParsableArguments {
    @OptionGroup var named: MusicFolders

    @Flag(help: ArgumentHelp("Add albums again that you deleted from the library.", visibility: .hidden))
    var restoreDeleted = false

    var folders: [String] { named.folders }

    /// What is to be scanned, as in `MusicFolders`.
    func scan(else remembered: [BytePath] = []) throws -> (scan: LibraryScan, missing: Int) {
        let (scan, missing) = try named.scan(else: remembered)
        var libraryScan = LibraryScan(scan)
        libraryScan.options.restoresDeleted = restoreDeleted
        return (libraryScan, missing)
    }

    /// Opens what is remembered of music folders, for this process alone unless that is not wanted.
    /// - Throws: An exit code, after an error message.
    static func openState(_ configuration: LibraryConfiguration, isAlone: Bool = true) throws -> MusicState {
        let state = try MusicState(of: configuration.libraryPath) { Log.warning($0) }
        if try !isAlone || state.tryLock() { return state }
        throw fail("another scan or fill of this library is running; this one did nothing", ExitStatus.tryLater)
    }

    /// Scans, with progress, and reports what could not be read.
    /// - Parameters:
    ///   - library: nil to leave the library as it is.
    ///   - reports: Whether to say what could not be read.
    /// - Throws: An exit code, after an error message.
    static func run(
        _ scan: LibraryScan, _ library: AlbumStore?, _ state: MusicState, _ options: LibraryOptions,
        _ progress: ProgressOptions, reports: Bool = true
    ) async throws -> LibraryScan.Outcome {
        let interval = progress.interval(options)
        let outcome = try await withProgress(MusicScan.Progress(), every: interval) { found in
            Self.progress(files: found.files, folders: found.folders, read: found.filesRead)
        } _: { report in
            let isCancelled = { @Sendable in Signals.received != nil }
            guard let library else {
                return try await scan.look(state, progress: report, isCancelled: isCancelled)
            }
            return try await scan.run(library, state, progress: report, isCancelled: isCancelled)
        }
        if reports {
            MessageList("file or folder", "files or folders").print(outcome.problems)
            if !options.quiet { MessageList("note").print(outcome.notes + outcome.gone) }
        }
        return outcome
    }

    /// The progress line of a scan, and a shorter one.
    static func progress(files: Int, folders: Int, read: Int) -> [String] {
        let (files, read) = (Decimals.count(files, "file"), "\(Decimals.grouped(read)) read")
        return ["\(files) in \(Decimals.count(folders, "folder")), \(read)", "\(files), \(read)"]
    }
}

extension LibraryScan.Outcome {
    /// The files and folders that could not be read.
    var problems: [String] {
        findings.problems.sorted { $0.path < $1.path }.map(\.description)
            + findings.emptyRoots.map {
                "\($0): has no audio file left; nothing of it was removed. Is its disk mounted?"
            }
    }

    /// What the scan left out.
    var notes: [String] { findings.outsideLinks.map { "\($0): is a link out of the folder; --follow follows it" } }

    /// The albums whose folder is gone.
    var gone: [String] { (update?.gone ?? []).map { "gone: \($0.shortName)" } }

    /// What the scan left out, in one line with its end; empty if that is nothing.
    var leftOut: String {
        let (found, deleted) = (findings.leftOut, update?.deleted.count ?? 0)
        let formats = found.formats.keys.sorted().joined(separator: ", ")
        func folders(_ paths: [BytePath]) -> String {
            let more = paths.count > 1 ? " and \(paths.count - 1) more" : ""
            return paths.min().map { " (\($0)\(more))" } ?? ""
        }
        func count(_ count: Int, _ one: String, _ many: String? = nil) -> String? {
            count > 0 ? Decimals.count(count, one, many) : nil
        }
        let parts = [
            count(found.untagged, "file").map { "\($0) without an album in the tags" },
            count(found.untaggedImages, "image of a CUE sheet", "images of CUE sheets").map {
                "\($0) without an album in the tags"
            },
            count(found.formats.values.reduce(0, +), "file").map { "\($0) whose format is not read (\(formats))" },
            count(found.hidden.count, "hidden folder").map { $0 + folders(found.hidden) },
            count(found.excluded.count, "folder").map { "\($0) with .nomedia or the like\(folders(found.excluded))" },
            count(deleted, "album").map { "\($0) deleted, or with a scan undone; --restore-deleted adds them again" },
        ].compactMap(\.self)
        return parts.isEmpty ? "" : "Left out: \(parts.joined(separator: "; "))".withoutControls + ".\n"
    }
}

extension Album {
    /// Artist and title, for messages.
    var shortName: String { artist.isEmpty ? title : "\(artist), \(title)" }

    /// With the year: it may be the only difference.
    var fullName: String { year.isEmpty ? shortName : "\(shortName) (\(year))" }
}

/// The process that reads tags for `sleeve album scan` and copies files for `sleeve fill --embed`. Its input is untrusted: it is a process of its own so that it may crash.
struct TagsWorker: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tags-worker", _superCommandName: "sleeve",
        abstract: "Read and write tags for `sleeve album scan` and `sleeve fill`.", shouldDisplay: false)

    /// Bytes that a worker may allocate. Pictures of 100 MB are read several times over.
    private static let memory = 1 << 30
    /// Seconds in which a worker ends itself, if the scan that waits for it has ended.
    private static let lifetime: UInt32 = 60

    func run() throws {
        let worker = TagWorker(memoryLimit: Self.memory, lifetime: Self.lifetime)
        if !worker.run(input: STDIN_FILENO, output: STDOUT_FILENO) { throw ExitStatus.couldNotRun }
    }

    /// Starts this program as a worker.
    static func starter() throws -> TagWorkerProcess.Start {
        let program = try Program.path
        return { input, output in
            let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
            defer { if null >= 0 { close(null) } }
            // In a process group of its own: Ctrl-C stops the scan, which ends its workers. A crash needs no backtrace.
            var environment = ProcessInfo.processInfo.environment
            environment["SWIFT_BACKTRACE"] = "enable=no"
            let child = try ChildProcess(
                [program, "tags-worker"], environment: environment, input: input, output: output,
                errors: null >= 0 ? null : STDERR_FILENO, hasOwnGroup: true)
            return TagWorkerProcess(kill: { child.send(SIGKILL) }, wait: { child.wait().status })
        }
    }
}
