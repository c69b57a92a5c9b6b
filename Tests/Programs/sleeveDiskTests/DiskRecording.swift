#if os(Linux)
    import Foundation
    import SleeveStage
    import Testing

    /// Runs of the command whose file operations were recorded, and what they acknowledged.
    struct DiskRecording {
        struct Step {
            /// In the trace.
            var operations: Range<Int>
            /// What it left in the cache, if it may have evicted covers.
            var remaining: Set<String>?
        }

        struct Acknowledgement {
            var digest: String
            /// The number of the operation that wrote the line of the report.
            var operation: Int
        }

        let stage: Stage
        var operations: [DiskOperation] = []
        private(set) var steps: [Step] = []
        private var reports = 0
        /// Operations of the trace that were read.
        private var recorded = 0
        private var trace: String { stage.folder + "/trace" }

        init(_ stage: Stage) {
            self.stage = stage
            try? FileManager.default.removeItem(atPath: trace)
        }

        /// Runs the command, and reads what it did.
        /// - Parameters:
        ///   - evicts: it may remove covers that were acknowledged.
        ///   - number: of the operation before which it is killed; nil if it is not.
        mutating func run(_ commands: [String]..., evicts: Bool = false, killedBefore number: Int? = nil) async throws {
            let start = operations.count
            let kill = number.map { ["DISK_KILL": "\($0)"] } ?? [:]
            let children = try commands.map { try child($0, kill) }
            for child in children {
                let result = await child.exit()
                #expect(number == nil ? result.status == 0 : result.signal == SIGKILL, "\(result)")
            }
            try readTrace()
            var step = Step(operations: start..<operations.count)
            if evicts {
                // It may recover something: what it does is a part of the trace, too.
                let listing = await (try child(["cache", "list", "--json"])).exit()
                let entries: [ListLine] = try listing.lines()
                step.remaining = Set(entries.map(\.url))
                try readTrace()
            }
            steps.append(step)
        }

        private mutating func readTrace() throws {
            let trace = try DiskOperation.read(trace)
            operations += trace.dropFirst(recorded)
            recorded = trace.count
        }

        private mutating func child(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Child {
            var arguments = arguments
            if ["prefetch", "refresh"].contains(arguments[0]) {
                reports += 1
                arguments += ["--quiet", "--report", "\(stage.folder)/report-\(reports)"]
            }
            return try stage.start(arguments, disk: variables.merging(["DISK_TRACE": trace]) { $1 })
        }

        /// What the reports had acknowledged, by URL, in order.
        var acknowledgements: [String: [Acknowledgement]] {
            var acknowledgements: [String: [Acknowledgement]] = [:]
            var texts: [String: String] = [:]
            for (number, operation) in operations.enumerated() {
                guard operation.kind == .write, operation.path.hasPrefix(stage.folder + "/report-") else { continue }
                let text = texts[operation.path, default: ""] + String(decoding: operation.data, as: UTF8.self)
                let end = text.lastIndex(of: "\n").map { text.index(after: $0) } ?? text.startIndex
                texts[operation.path] = String(text[end...])
                let lines: [ReportLine] = (try? jsonLines(String(text[..<end]))) ?? []
                for line in lines {
                    guard let digest = line.digest else { continue }
                    acknowledgements[line.url, default: []].append(
                        Acknowledgement(digest: digest, operation: number))
                }
            }
            return acknowledgements
        }

        // MARK: Changing the recording

        /// Removes a file behind the command's back, durably. - Parameter index: The operation before which it is removed.
        mutating func remove(_ path: String, at index: Int? = nil) {
            insert(
                [DiskOperation(.unlink, path), DiskOperation(.syncDirectory, DiskOperation.parent(path))],
                at: index ?? operations.count)
        }

        /// Inserts operations that no run has done.
        private mutating func insert(_ added: [DiskOperation], at index: Int) {
            operations.insert(contentsOf: added, at: index)
            for number in steps.indices {
                let range = steps[number].operations
                let start = range.lowerBound >= index ? range.lowerBound + added.count : range.lowerBound
                let end = range.upperBound > index ? range.upperBound + added.count : range.upperBound
                steps[number].operations = start..<max(start, end)
            }
        }

        /// Forgets the operations that `isForgotten` chooses, as if the command had not done them.
        /// - Parameter step: the number of the only run whose operations are forgotten; nil for all runs.
        mutating func forget(ofStep step: Int? = nil, _ isForgotten: (DiskOperation) -> Bool) {
            for index in step.map({ steps[$0].operations }) ?? operations.indices where isForgotten(operations[index]) {
                operations[index].kind = .failed
            }
        }

        /// Puts each sync of the file system behind the next sync of the index's log: rows become durable before their files.
        mutating func delaySyncsOfFileSystem() {
            for index in operations.indices where operations[index].kind == .syncFileSystem {
                guard let sync = operations[index...].firstIndex(where: { $0.kind == .sync && $0.isOfLog }) else {
                    return
                }
                operations.insert(operations[index], at: sync + 1)
                operations[index].kind = .failed
            }
        }

        /// The first operation of a run that `isMeant` chooses.
        func firstIndex(ofStep step: Int, _ isMeant: (DiskOperation) -> Bool) -> Int? {
            operations[steps[step].operations].firstIndex(where: isMeant)
        }

        // MARK: Power loss

        /// Recovers the cache from states that power loss may leave at each moment, and checks the promises.
        /// - Parameters:
        ///   - limit: of the states at each moment that chance chooses.
        ///   - isAtEnd: only the states after the last operation are examined.
        ///   - isEnough: ends the search with a fault.
        /// - Returns: the number of states, and what was wrong.
        func powerLoss(
            limit: Int = isThorough ? 200 : 1, isAtEnd: Bool = false, isEnough: (String) -> Bool = { _ in true }
        ) async throws -> (states: Int, faults: [String]) {
            let acknowledgements = acknowledgements
            let allowed = acknowledgements.mapValues { Set($0.map(\.digest)) }
            var disk = Disk(directory: stage.folder)
            var faults: [String] = []
            var states = 0
            let copy = try scratchFolder()
            defer { try? FileManager.default.removeItem(atPath: copy) }
            for number in 0...operations.count {
                let operation = number < operations.count ? operations[number] : nil
                if operation == nil || !isAtEnd && isMoment(operation, after: number > 0 ? operations[number - 1] : nil)
                {
                    let required = required(before: number, acknowledgements)
                    // Here, the index's log has the most commits that may be lost.
                    let isLogFull = operation.map { $0.kind == .sync && $0.isOfLog } ?? true
                    let cuts = isLogFull ? CrashState.cuts(of: disk) : []
                    for state in CrashState.some(of: disk, limit: limit, seed: UInt64(number)) + cuts {
                        states += 1
                        // Other tests run meanwhile.
                        await Task.yield()
                        try write(state, of: disk, to: copy)
                        let found = await CacheCheck(required: required, allowed: allowed, keepsIndex: true).faults(
                            in: copy + "/cache")
                        faults += found.map { "before operation \(number): \($0)" }
                        if found.contains(where: isEnough) { return (states, faults) }
                    }
                }
                if let operation, isInCache(operation) { disk.apply(operation) }
            }
            return (states, faults)
        }

        /// What is pending only grows until the next sync: states with less of it are among those examined there. What destroys bytes is
        /// looked at by itself.
        private func isMoment(_ next: DiskOperation?, after previous: DiskOperation?) -> Bool {
            guard let next, let previous else { return next == nil }
            return isInCache(next) && [.sync, .syncDirectory, .syncFileSystem].contains(next.kind)
                || isInCache(previous) && [.unlink, .rename].contains(previous.kind)
        }

        private func isInCache(_ operation: DiskOperation) -> Bool {
            operation.path.hasPrefix(stage.cache) || operation.path == stage.folder
        }

        /// The digests that a URL may have at the moment before an operation, for each URL that must be there.
        private func required(
            before number: Int, _ acknowledgements: [String: [Acknowledgement]]
        ) -> [String: Set<String>] {
            acknowledgements.compactMapValues { all -> Set<String>? in
                guard let last = all.lastIndex(where: { $0.operation < number }) else { return nil }
                return Set(all[last...].map(\.digest))
            }.filter { url, _ in
                let last = acknowledgements[url]?.last { $0.operation < number }
                return !steps.contains { step in
                    guard let last, let remaining = step.remaining, !remaining.contains(url) else { return false }
                    return step.operations.lowerBound < number && step.operations.upperBound > last.operation
                }
            }
        }

        private func write(_ state: CrashState, of disk: Disk, to copy: String) throws {
            try? FileManager.default.removeItem(atPath: copy)
            let (directories, files) = state.contents(of: disk)
            for directory in directories.sorted() {
                try FileManager.default.createDirectory(
                    atPath: copy + directory.dropFirst(stage.folder.count), withIntermediateDirectories: true)
            }
            for (path, bytes) in files {
                let file = URL(filePath: copy + path.dropFirst(stage.folder.count))
                // A folder that was removed when it was empty, before that was durable.
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(bytes).write(to: file)
            }
        }
    }

    /// A folder in memory, if there is one: thousands of states are written to it and synced.
    private func scratchFolder() throws -> String {
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : FileManager.default.temporaryDirectory.path()
        let folder = parent + "/sleeve-crash-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }
#endif
