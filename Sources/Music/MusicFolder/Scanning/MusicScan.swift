import Dispatch
import Files
import Platform
import Synchronization

/// Reads music folders: the names and times of all files, and the tags of folders that have changed since the last scan.
///
/// One thread walks. Some others each drive a worker process, which reads the tags.
package struct MusicScan: Sendable {
    /// Folders without links, absolute.
    package var roots: [BytePath]
    /// Follow links that lead out of the scanned folder.
    package var followsOutside = false
    /// Starts a worker.
    package var start: TagWorkerProcess.Start
    package var workers = 2

    package init(_ roots: [BytePath], start: @escaping TagWorkerProcess.Start) {
        (self.roots, self.start) = (roots, start)
    }

    /// How far a scan is.
    package struct Progress: Sendable, Hashable {
        package var folders = 0
        package var files = 0
        /// Files whose tags were read.
        package var filesRead = 0
        package var foldersRead = 0

        package init() {}
    }

    /// What a scan has found.
    package struct Findings: Sendable {
        package var progress = Progress()
        /// The folders with audio files or pictures.
        package var folders: [BytePath: FolderContents] = [:]
        package var problems: [MusicProblem] = []
        /// Links that were not followed because they lead out of the scanned folder.
        package var outsideLinks: [BytePath] = []
        package var leftOut = LeftOut()
        /// Folders that are known and not in `folders`, because they are not there.
        package var goneFolders: Set<BytePath> = []
        /// Roots that have lost all of their audio files: their disk may not be mounted. Nothing in them is gone.
        package var emptyRoots: [BytePath] = []
        /// Folders with temporary files of fills.
        package var leftovers: [BytePath] = []
        package var isCancelled = false
        /// The scanned folders.
        package var roots: [BytePath] = []

        /// Whether an album that was not found in a folder is gone from there. Not if the folder was not scanned or not read.
        package func isGone(_ folder: BytePath) -> Bool {
            if goneFolders.contains(folder) { return true }
            guard folder.isInside(any: roots) else { return false }
            return folders[folder].map(\.problems.isEmpty) ?? !isHidden(folder)
        }

        /// Files and folders that could not be read, and links that were not followed.
        package var unread: [BytePath] { problems.map(\.path) + outsideLinks }

        /// Removes the temporary files of fills that were killed.
        package func sweep() { for folder in leftovers { _ = try? OpenFolder(path: folder.bytes).sweep() } }

        /// Whether a folder that was not found may be there: it, or one above it, could not be read.
        fileprivate func isHidden(_ folder: BytePath) -> Bool {
            (problems.lazy.map(\.path) + outsideLinks + emptyRoots).contains { folder.isInside($0) }
        }
    }

    /// What the reading threads hand over.
    private struct Output: Sendable {
        var folders: [(path: BytePath, folder: MusicState.Folder)] = []
        var filesRead = 0
        var problem: TagLane.Unavailable?
    }

    /// The number of folders that are saved together.
    private static let group = 500

    /// Scans on the calling thread, which it blocks.
    /// - Parameters:
    ///   - state: Where folders are remembered. What was read is saved, even if the scan is cancelled.
    ///   - progress: Called after each folder.
    ///   - isCancelled: Called often, from any thread.
    /// - Throws: `MusicState.Problem`, or `TagLane.Unavailable`.
    package func run(
        _ state: MusicState, progress: (Progress) -> Void, isCancelled: @escaping @Sendable () -> Bool
    ) throws -> Findings {
        let (queue, output, group) = (FolderQueue(), SharedOutput(), DispatchGroup())
        for _ in 0..<max(1, workers) {
            group.enter()
            WorkThread.start { [self] in
                defer { group.leave() }
                read(queue, output, isCancelled: { isCancelled() || output.value.withLock { $0.problem != nil } })
            }
        }
        var findings = Findings()
        findings.roots = roots
        var known: [BytePath: MusicState.Folder] = [:]
        do {
            defer {
                queue.close()
                group.wait()
            }
            known = try state.folders(in: roots)
            try walk(known, queue, &findings) { findings in
                if isCancelled() || output.value.withLock({ $0.problem != nil }) { throw CancellationError() }
                try take(output, state, &findings, atLeast: Self.group)
                progress(findings.progress)
            }
        } catch is CancellationError {
            findings.isCancelled = true
        }
        try take(output, state, &findings, atLeast: 1)
        if let problem = output.value.withLock({ $0.problem }) { throw problem }
        if findings.isCancelled { return findings }
        findings.isCancelled = isCancelled()
        for (path, contents) in findings.folders { findings.leftOut.addUntagged(contents.untagged, in: path) }
        if !findings.isCancelled { findGone(known, &findings) }
        progress(findings.progress)
        return findings
    }

    /// The mutex is not copyable, and several threads have it.
    private final class SharedOutput: Sendable { let value = Mutex(Output()) }

    // MARK: Walking

    private func walk(
        _ known: [BytePath: MusicState.Folder], _ queue: FolderQueue, _ findings: inout Findings,
        each: (inout Findings) throws -> Void
    ) throws {
        try withoutActuallyEscaping(each) { each in
            var found = findings
            defer { findings = found }
            var walk = FolderWalk(followsOutside: followsOutside) { event in
                switch event {
                case .folder(let listing):
                    found.progress.folders += 1
                    found.progress.files += listing.audio.count
                    if let folder = known[listing.path], folder.fingerprint == listing.fingerprint {
                        found.folders[listing.path] = folder.contents
                        found.problems += folder.contents.problems
                    } else {
                        queue.add(listing)
                    }
                    try each(&found)
                case .problem(let problem): found.problems.append(problem)
                case .leftovers(let path): found.leftovers.append(path)
                case .outside(let link): found.outsideLinks.append(link)
                case .leftOut(let reason, let path): found.leftOut.add(reason, path)
                }
            }
            for root in roots { try walk.walk(root) }
        }
    }

    private func findGone(_ known: [BytePath: MusicState.Folder], _ findings: inout Findings) {
        for root in roots {
            let hadAudio = known.contains { $0.value.contents.files > 0 && $0.key.isInside(root) }
            let hasAudio = findings.folders.contains { $0.value.files > 0 && $0.key.isInside(root) }
            if hadAudio, !hasAudio { findings.emptyRoots.append(root) }
        }
        for path in known.keys where findings.folders[path] == nil {
            if !findings.isHidden(path) { findings.goneFolders.insert(path) }
        }
    }

    // MARK: Reading

    private func read(_ queue: FolderQueue, _ output: SharedOutput, isCancelled: @escaping @Sendable () -> Bool) {
        let lane = TagLane(start: start, timeout: .seconds(10), isCancelled: isCancelled)
        while let listing = queue.next() {
            // The queue is emptied: the walk may wait for room in it.
            if isCancelled() { continue }
            let paths = listing.audio.map { listing.path.appending($0.name) }
            do throws(TagLane.Unavailable) {
                let results = try lane.read(paths)
                guard results.count == paths.count else { continue }
                let contents = Self.contents(of: listing, paths, results)
                let folder = MusicState.Folder(fingerprint: listing.fingerprint, contents: contents)
                output.value.withLock { output in
                    output.folders.append((listing.path, folder))
                    output.filesRead += paths.count
                }
            } catch {
                output.value.withLock { $0.problem = $0.problem ?? error }
            }
        }
    }

    private static func contents(
        of listing: FolderListing, _ paths: [BytePath], _ results: [Result<AudioTags, TagFailure>]
    ) -> FolderContents {
        var (problems, isTransient) = ([MusicProblem](), false)
        let tags: [AudioTags?] = zip(paths, results).map { path, result in
            switch result {
            case .success(let found): return found
            case .failure(let failure):
                problems.append(MusicProblem(path, failure.reason))
                isTransient = isTransient || failure.isTransient
                return nil
            }
        }
        var contents = FolderContents(of: listing, tags: tags, problems: problems) { $0.readHeader() }
        contents.isTransient = isTransient
        return contents
    }

    /// Saves folders that were read.
    private func take(_ output: SharedOutput, _ state: MusicState, _ findings: inout Findings, atLeast count: Int)
        throws
    {
        let (read, filesRead) = output.value.withLock { output in
            let read = output.folders.count >= count ? output.folders : []
            if !read.isEmpty { output.folders = [] }
            return (read, output.filesRead)
        }
        findings.progress.filesRead = filesRead
        for (path, folder) in read {
            findings.folders[path] = folder.contents
            findings.problems += folder.contents.problems
            findings.progress.foldersRead += 1
        }
        try state.save(read)
    }
}

/// Passes folders from the thread that walks to the threads that read. Adding waits while many folders wait.
final class FolderQueue: Sendable {
    private struct State {
        var folders: [FolderListing] = []
        var isClosed = false
    }

    private static let capacity = 64
    private let state = Mutex(State())
    private let filled = DispatchSemaphore(value: 0)
    private let free = DispatchSemaphore(value: 0)

    init() { for _ in 0..<Self.capacity { free.signal() } }

    func add(_ folder: FolderListing) {
        free.wait()
        state.withLock { $0.folders.append(folder) }
        filled.signal()
    }

    /// No folder follows.
    func close() {
        state.withLock { $0.isClosed = true }
        filled.signal()
    }

    /// Waits for a folder. Nil when there are no more.
    func next() -> FolderListing? {
        filled.wait()
        let folder = state.withLock { $0.folders.isEmpty ? nil : $0.folders.removeFirst() }
        // Closed, for the other threads too.
        if folder == nil { filled.signal() } else { free.signal() }
        return folder
    }
}
