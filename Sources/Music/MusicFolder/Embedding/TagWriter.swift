import Files
import Platform

/// Changes the pictures of one audio file: has a worker write and prove a changed copy, and puts it in the place of the file.
///
/// The file has its old bytes or its new ones, whenever the process is killed.
struct TagWriter {
    let lane: TagLane
    let state: MusicState

    /// A file to change.
    struct Target {
        var folder: OpenFolder
        var path: BytePath
    }

    /// Adds a front cover to a file that has none.
    /// - Returns: Bytes written.
    /// - Throws: `EmbeddingProblem`, `OtherFormat`, `TagFailure` or `SystemError`; the file is as it was.
    func add(_ cover: EmbeddableCover, to target: Target, run: Int64) throws -> Int {
        let (name, file) = try open(target)
        let expected = OwnFile.Expected(try file.source.digest(), isOwn: false)
        let new = try NewFile(in: target.folder, mode: 0o600, type: file.fileExtension)
        try new.write(cover.bytes)
        guard let audio = try change(file, new, .add, target), let folder = target.path.parent else {
            throw EmbeddingProblem.damaged
        }
        let length = Int(try new.status().st_size)
        let row = EmbeddedCover(
            folder: folder, name: name.bytes, picture: cover.digest, audio: audio, growth: length - file.length,
            run: run, root: try state.root(of: folder), disk: target.folder.disk)
        try state.save(row)
        do {
            try replace(expected, by: new, name, target)
        } catch {
            try state.forget(row)
            throw error
        }
        return length
    }

    /// Removes a cover that was added.
    /// - Returns: Whether it was there.
    /// - Throws: `EmbeddingProblem`, `OtherFormat`, `TagFailure` or `SystemError`; the file is as it was.
    func remove(_ cover: EmbeddedCover, from target: Target) throws -> Bool {
        let (name, file) = try open(target)
        let expected = OwnFile.Expected(try file.source.digest(), isOwn: false)
        let new = try NewFile(in: target.folder, mode: 0o600, type: file.fileExtension)
        let removal = TagChange.Action.remove(picture: cover.picture, audio: cover.audio, growth: cover.growth)
        guard try change(file, new, removal, target) != nil else { return false }
        try replace(expected, by: new, name, target)
        return true
    }

    private func open(_ target: Target) throws -> (FileName, AudioFile) {
        guard let name = FileName(target.path.name) else { throw EmbeddingProblem.damaged }
        let file = AudioFile(try target.folder.file(name), extension: MusicNames.fileExtension(name.bytes) ?? "")
        guard file.source.status.st_mode & 0o222 != 0 else {
            throw EmbeddingProblem(reason: "is read-only, so its tags are not written")
        }
        guard file.source.status.st_nlink == 1 else { throw Self.problem(.hasHardLinks) }
        return (name, file)
    }

    /// - Returns: The digest of the audio of both files; nil if the picture to remove is not there.
    private func change(
        _ file: AudioFile, _ new: NewFile, _ action: TagChange.Action, _ target: Target
    ) throws -> Digest? {
        guard let folder = target.path.parent else { throw EmbeddingProblem.damaged }
        let change = TagChange(path: target.path, copy: folder.appending(new.temporary.bytes), action: action)
        // There is no answer if the run is to end.
        guard let answer = try lane.change(change, length: file.length) else { throw CancellationError() }
        switch try answer.get() {
        case .made(let audio):
            return audio
        case .absent: return nil
        case .refused(let reason): throw EmbeddingProblem(reason: reason)
        case .otherFormat(let name): throw OtherFormat(name: name)
        case .failed(let error): throw SystemError("write", path: file.source.path, number: error)
        }
    }

    private func replace(_ expected: OwnFile.Expected, by new: NewFile, _ name: FileName, _ target: Target) throws {
        do {
            try OwnFile(name, in: target.folder, state.journal).replace(expected, by: new, keepsHardLinks: true)
        } catch let refusal as OwnFile.Refusal {
            throw Self.problem(refusal)
        }
    }

    private static func problem(_ refusal: OwnFile.Refusal) -> EmbeddingProblem {
        EmbeddingProblem(reason: "\(refusal.reason), so its tags are not written")
    }
}
