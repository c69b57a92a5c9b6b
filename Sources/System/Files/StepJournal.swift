package import Platform
import Synchronization

/// The steps that are under way, in a file for each process, in a directory of Sleeve's. A line is there, durably, before its step's first
/// rename. The file is locked as long as the process lives.
package final class StepJournal: Sendable {
    private let directory: String
    private let state = Mutex(State())

    private struct State {
        var file: Int32 = -1
        var path = ""
        /// The number of steps under way.
        var steps = 0
    }

    /// - Parameter directory: Created with the first step.
    package init(directory: String) { self.directory = directory }

    deinit {
        state.withLock { state in
            guard state.file >= 0 else { return }
            // A step that was not completed stays written down. The lock ends with the descriptor.
            if state.steps == 0 { unlink(state.path) }
            close(state.file)
        }
    }

    /// - Throws: `SystemError`. The step must not begin then.
    func begin(_ step: Step) throws(SystemError) {
        try state.withLock { (state) throws(SystemError) in
            if state.file < 0 { try create(&state) }
            let bytes = Array((step.line + "\n").utf8)
            guard bytes.withUnsafeBytes({ writeAll($0, to: state.file) }), DurableFile.sync(state.file) else {
                throw SystemError("write", path: state.path)
            }
            state.steps += 1
        }
    }

    private func create(_ state: inout State) throws(SystemError) {
        try OwnedPath.makeFolder(directory)
        while true {
            let path = "\(directory)/\(getpid())-\(UInt64.random(in: 0 ... .max)).steps"
            let file = OwnedPath.create(path, O_RDWR | O_APPEND | O_EXCL | O_NOFOLLOW)
            guard file >= 0 else { throw SystemError("write", path: path) }
            var status = stat()
            // Another process may have taken the new file for one of a killed process.
            let isLocked = flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            if isLocked, fstat(file, &status) == 0, status.st_nlink > 0 {
                (state.file, state.path) = (file, path)
                return try DurableFile.sync(directory: directory)
            }
            close(file)
        }
    }

    /// The step is complete, or was taken back: nothing is under its hidden names.
    func end(_ step: Step) {
        state.withLock { state in
            state.steps -= 1
            // A line that survives tells of hidden names that are gone, of which there is nothing to repair.
            if state.steps == 0 { ftruncate(state.file, 0) }
        }
    }

    // MARK: After a crash

    /// What became of a file whose step was interrupted.
    package enum Repaired: Sendable, Hashable {
        /// The file has its name again.
        case putBack(path: String)
        /// The file has this name, as another one has its own.
        case movedAside(path: String)

        package var message: String {
            switch self {
            case .putBack(let path): "\(path): put back, as a process was killed while it wrote"
            case .movedAside(let path):
                "\(path): a file of yours that a killed process had moved, beside the one that has its name"
            }
        }
    }

    /// Puts back, or removes, what crashed processes have left under hidden names. Steps of a folder that is away stay written down.
    package func recover() -> [Repaired] {
        guard let folder = try? OpenFolder(path: directory), let names = try? folder.names() else { return [] }
        return names.filter { $0.bytes.suffix(6).elementsEqual(".steps".utf8) }.flatMap { name -> [Repaired] in
            let path = folder.path(of: name)
            let file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else { return [] }
            defer { close(file) }
            guard flock(file, LOCK_EX | LOCK_NB) == 0, let text = try? folder.file(name).contents() else { return [] }
            var (repaired, isComplete) = ([Repaired](), true)
            for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
                guard let step = Step(line: line) else { continue }
                do throws(SystemError) { repaired += try Self.repair(step) } catch { isComplete = false }
            }
            if isComplete { unlink(path) }
            return repaired
        }
    }

    /// - Throws: `SystemError` if the folder is away or cannot be written.
    private static func repair(_ step: Step) throws(SystemError) -> [Repaired] {
        let folder = try OpenFolder(path: step.folder)
        var repaired: [Repaired] = []
        for hidden in [step.spare, step.hidden] {
            switch step.repair(hidden: try found(hidden, folder), name: try found(step.name, folder)) {
            case .none: continue
            case .delete: try check(folder.unlink(hidden), folder, hidden)
            case .putBack:
                try check(folder.moveExclusively(hidden, to: step.name), folder, hidden)
                repaired.append(.putBack(path: folder.path(of: step.name)))
            case .takeOver:
                // The new file may be another one in this moment.
                let other = hidden == step.spare ? step.hidden : step.spare
                try check(folder.rename(step.name, to: other), folder, step.name)
                let isNew = try OwnFile.digest(of: other, in: folder) == step.new
                try check(folder.moveExclusively(isNew ? hidden : other, to: step.name), folder, hidden)
                if !isNew { repaired.append(moveAside(hidden, step, folder)) }
                if isNew { try check(folder.unlink(other), folder, other) }
                repaired.append(.putBack(path: folder.path(of: step.name)))
            case .moveAside: repaired.append(moveAside(hidden, step, folder))
            }
        }
        try folder.sync()
        return repaired
    }

    private static func moveAside(_ hidden: FileName, _ step: Step, _ folder: OpenFolder) -> Repaired {
        .movedAside(path: folder.path(of: folder.moveAside(hidden, of: step.name)))
    }

    private static func found(_ name: FileName, _ folder: OpenFolder) throws(SystemError) -> Step.Found {
        if let digest = try OwnFile.digest(of: name, in: folder) { return .bytes(digest) }
        return try folder.status(of: name) == nil ? .nothing : .other
    }

    private static func check(_ error: Int32, _ folder: OpenFolder, _ name: FileName) throws(SystemError) {
        if error != 0 { throw SystemError("write", path: folder.path(of: name), number: error) }
    }
}

/// What takes a file of a person away from its name, for a moment.
///
/// In a replacement, the new file is at `hidden`, and then exchanged with the one at `name`; without exchanges the old one goes to `spare`
/// before. In a removal, the old one goes to `spare`.
package struct Step: Sendable, Hashable {
    package var folder: [UInt8]
    package var name: FileName
    package var hidden: FileName
    package var expected: OwnFile.Expected
    /// What is put in the place; nil for a removal.
    package var new: Digest?

    /// Where the old file goes if names cannot be exchanged.
    var spare: FileName { FileName(hidden.bytes + ".old".utf8)! }

    private static let serial = Atomic(0)

    /// A name that no other step has, also after a restart of the machine. `OpenFolder.sweep` leaves it alone.
    static func hiddenName() -> FileName {
        let number = serial.wrappingAdd(1, ordering: .relaxed).newValue
        return FileName(".sleeve-\(getpid())-\(WallClock.milliseconds())-\(number).step")!
    }

    // MARK: After a crash

    /// What has a name.
    enum Found: Sendable, Hashable {
        case nothing
        case bytes(Digest)
        /// A folder, a link, or what cannot be read.
        case other
    }

    /// What to do with a file that is under a hidden name.
    enum Repair: Sendable, Hashable {
        /// There is nothing to do.
        case none
        /// It has bytes that Sleeve wrote.
        case delete
        /// Nothing has the name.
        case putBack
        /// Sleeve's new file has the name: it goes, and the file gets its name back.
        case takeOver
        /// A person's file has the name.
        case moveAside
    }

    /// Decides from what is there. Only bytes that Sleeve wrote are ever deleted.
    func repair(hidden: Found, name: Found) -> Repair {
        if hidden == .nothing { return .none }
        if let new, hidden == .bytes(new) { return .delete }
        if expected.isSleeves, hidden == .bytes(expected.digest) {
            // A removal, and a replacement whose new file has its name, are complete. Else it is the only cover there is.
            return new == nil || name != .nothing ? .delete : .putBack
        }
        if name == .nothing { return .putBack }
        if let new, name == .bytes(new) { return .takeOver }
        return .moveAside
    }
}

extension Step {
    /// The step as a line of the journal.
    var line: String {
        let parts = [folder, name.bytes, hidden.bytes].map { Hexadecimal.text($0) }
        let digests = ["\(expected.digest)", expected.isSleeves ? "own" : "theirs", new.map { "\($0)" } ?? "none", "."]
        return (parts + digests).joined(separator: " ")
    }

    /// Nil for a line that was cut off.
    init?(line: some StringProtocol) {
        let parts = line.split(separator: " ")
        guard parts.count == 7, parts[6] == ".", let name = FileName(Self.bytes(parts[1])),
            let hidden = FileName(Self.bytes(parts[2])), let digest = Digest(String(parts[3]))
        else { return nil }
        self.init(
            folder: Self.bytes(parts[0]), name: name, hidden: hidden,
            expected: .init(digest, isSleeves: parts[4] == "own"), new: Digest(String(parts[5])))
    }

    private static func bytes(_ text: some StringProtocol) -> [UInt8] {
        Hexadecimal.bytes(text.utf8) ?? []
    }
}
