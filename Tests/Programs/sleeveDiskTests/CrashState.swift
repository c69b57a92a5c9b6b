import Platform
import SleeveStage

/// One state that power loss may leave a disk in.
struct CrashState {
    /// The fate of each pending change of each file.
    var files: [[Fate]]
    /// Whether each pending change of a name is durable.
    var names: [Bool]

    /// Nothing, or all, of what is pending is durable.
    init(_ disk: Disk, _ fate: Fate = .applied) {
        files = disk.files.map { $0.pending.map { _ in fate } }
        names = disk.pendingNames.map { _ in fate == .applied }
    }

    /// The files by path; those in directories that are not durable are gone.
    func contents(of disk: Disk) -> (directories: Set<String>, files: [String: [UInt8]]) {
        var current = disk.names
        for (change, isDurable) in zip(disk.pendingNames, names) where isDurable { current.apply(change) }
        func isReachable(_ directory: String) -> Bool {
            current.directories.contains(directory)
                && (directory == disk.root || isReachable(DiskOperation.parent(directory)))
        }
        var contents: [String: [UInt8]] = [:]
        for (path, number) in current.files where isReachable(DiskOperation.parent(path)) {
            let file = disk.files[number]
            var bytes = file.durable
            for (change, fate) in zip(file.pending, files[number]) { fate.apply(change, to: &bytes) }
            contents[path] = bytes
        }
        return (current.directories.filter(isReachable), contents)
    }

    /// States that power loss may leave `disk` in. There are too many for all: those that lack one kind of change altogether, and a
    /// choice of those in which one thing is missing, something ends early, or chance decides.
    /// - Parameter limit: how many states of the latter sort.
    static func some(of disk: Disk, limit: Int, seed: UInt64) -> [CrashState] {
        var generator = SplitMix64(seed: seed)
        let (whole, nothing) = (CrashState(disk), CrashState(disk, .absent))
        let files = disk.files.indices.filter { !disk.files[$0].pending.isEmpty }
        var states = [whole, nothing, whole.with { $0.names = nothing.names }, nothing.with { $0.names = whole.names }]
        // Every file, or every fourth: at later moments those that are left out here, if they are still pending.
        for file in files where isThorough || (file + Int(seed)).isMultiple(of: 4) {
            states.append(whole.with { $0.files[file] = nothing.files[file] })
            states.append(nothing.with { ($0.files[file], $0.names) = (whole.files[file], whole.names) })
        }
        for _ in 0..<limit {
            let file = files.randomElement(using: &generator)
            switch (Int.random(in: 0..<4, using: &generator), file) {
            case (0, let file?): states.append(whole.endingEarly(file, of: disk, &generator))
            case (1, let file?):
                let change = Int.random(in: 0..<whole.files[file].count, using: &generator)
                states.append(whole.with { $0.files[file][change] = .absent })
            case (2, _) where !whole.names.isEmpty:
                let name = Int.random(in: 0..<whole.names.count, using: &generator)
                states.append(whole.with { $0.names[name] = false })
            default: states.append(whole.mixed(&generator))
            }
        }
        return states
    }

    /// The states in which one file ends early and everything else is durable: each, or every third.
    static func cuts(of disk: Disk) -> [CrashState] {
        let whole = CrashState(disk)
        return disk.files.indices.flatMap { file in
            disk.files[file].pending.indices.filter { isThorough || ($0 + file).isMultiple(of: 3) }.map { end in
                whole.with { for later in end..<$0.files[file].count { $0.files[file][later] = .absent } }
            }
        }
    }

    private func with(_ change: (inout CrashState) -> Void) -> CrashState {
        var state = self
        change(&state)
        return state
    }

    /// A file ends with one of its changes, which may be torn.
    private func endingEarly(_ file: Int, of disk: Disk, _ generator: inout SplitMix64) -> CrashState {
        let pending = disk.files[file].pending
        let last = Int.random(in: 0..<pending.count, using: &generator)
        let blocks = pending[last].length / Fate.block
        return with { state in
            for later in pending.indices where later > last { state.files[file][later] = .absent }
            if pending[last].kind != .write || Bool.random(using: &generator) {
                state.files[file][last] = .absent
            } else if blocks > 0, Bool.random(using: &generator) {
                state.files[file][last] = .torn(blocks: Int.random(in: 1...blocks, using: &generator))
            } else {
                state.files[file][last] = .zeroed
            }
        }
    }

    /// Each change is durable with the same probability.
    private func mixed(_ generator: inout SplitMix64) -> CrashState {
        let probability = Double.random(in: 0.1...0.95, using: &generator)
        func isDurable() -> Bool { .random(in: 0..<1, using: &generator) < probability }
        var state = self
        for name in names.indices { state.names[name] = isDurable() }
        for file in files.indices {
            for index in files[file].indices where !isDurable() {
                state.files[file][index] = [.absent, .zeroed, .torn(blocks: 1)].randomElement(using: &generator)!
            }
        }
        return state
    }
}
