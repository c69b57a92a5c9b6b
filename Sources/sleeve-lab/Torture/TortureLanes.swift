import CommandSupport
import Platform

/// Runs the processes of one round: in each lane one after the other, the lanes at the same time.
struct TortureLanes: Sendable {
    /// The path of the program.
    let sleeve: String
    let folder: TemporaryFolder
    let children: ChildProcesses
    let catalog: TortureCatalog
    let durations: TypicalDurations
    let clock: Stopwatch
    /// How long a process may run after its last signal.
    let timeLimit: Duration
    /// The number of the first process.
    let firstNumber: Int
    /// Called when a process has ended.
    let ended: @Sendable (TortureProcess) -> Void

    /// - Returns: The processes that have ended, in the order of their numbers.
    /// - Throws: `SystemError` or an error of Foundation's if one cannot be started.
    func run(_ round: TortureRound) async throws -> [TortureProcess] {
        try await withThrowingTaskGroup(of: [TortureProcess].self) { group in
            var number = firstNumber
            for lane in round.lanes {
                let (first, assignments) = (number, lane)
                number += lane.count
                group.addTask { try await run(assignments, first, round) }
            }
            var processes: [TortureProcess] = []
            for try await lane in group { processes += lane }
            return processes.sorted { $0.number < $1.number }
        }
    }

    private func run(
        _ assignments: [TortureRound.Assignment], _ first: Int, _ round: TortureRound
    ) async throws -> [TortureProcess] {
        var processes: [TortureProcess] = []
        for (index, assignment) in assignments.enumerated() where !children.isStopped {
            let process = try await run(assignment, number: first + index, round)
            ended(process)
            processes.append(process)
        }
        return processes
    }

    private func run(
        _ assignment: TortureRound.Assignment, number: Int, _ round: TortureRound
    ) async throws -> TortureProcess {
        let files = TortureJob.Files(folder: folder, number: number)
        let start = clock.time
        let child = try await WorkThread.run { Result { try self.start(assignment.job, files) } }.get()
        let signaller = Task { await send(assignment.fate.steps(typical: durations[assignment.job.kind]), to: child) }
        let exit = await children.end(of: child)
        signaller.cancel()
        let (signals, exceededTimeLimit) = await signaller.value
        let process = TortureProcess(
            number: number, job: assignment.job, fate: assignment.fate, start: start, end: clock.time,
            status: exit.status, signals: signals, exceededTimeLimit: exceededTimeLimit)
        return await WorkThread.run { [process] in
            var process = process
            process.collect(files, catalog)
            return process
        }
    }

    private func start(_ job: TortureJob, _ files: TortureJob.Files) throws -> ChildProcess {
        if case .prefetch(let covers) = job {
            let list = covers.map { catalog.urls[$0] + "\n" }.joined()
            try folder.write(list, to: files.list)
        }
        let output = try folder.create(files.output)
        defer { close(output) }
        let errors = try folder.create(files.errors)
        defer { close(errors) }
        let options = ["--cache", folder.file("cache"), "--library", folder.file("albums.json")]
        return try children.start(
            [sleeve] + job.arguments(files, catalog) + options, output: output, errors: errors)
    }

    /// Sends the signals, then ends the process after the time limit. Cancelled when the process has ended.
    /// - Returns: The signals that were sent, and whether the time limit was exceeded.
    private func send(_ steps: [TortureFate.Step], to child: ChildProcess) async -> (sent: [Int32], isLimit: Bool) {
        var sent: [Int32] = []
        for step in steps {
            guard (try? await Task.sleep(for: step.delay)) != nil, children.send(step.signal, to: child) else {
                return (sent, false)
            }
            sent.append(step.signal)
        }
        guard (try? await Task.sleep(for: timeLimit)) != nil else { return (sent, false) }
        return (sent, children.send(SIGKILL, to: child))
    }
}
