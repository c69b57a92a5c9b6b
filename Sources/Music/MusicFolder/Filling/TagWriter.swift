import Files
import Platform

/// Changes the pictures of one audio file: has a worker write and prove a changed copy, and puts it in the place of the file.
///
/// The file has its old bytes or its new ones, whenever the process is killed.
struct TagWriter {
    let lane: TagLane
    let state: MusicState
    let folder: OpenFolder
    /// The file to change.
    let path: BytePath
    var options = FillOptions()

    /// Adds a front cover to a file that has none, or one of a fill.
    /// - Parameter former: The row of the picture that the file has.
    /// - Returns: Its row, with the file's new length.
    /// - Throws: `Objection`, `OtherFormat`, `TagFailure` or `SystemError`; the file is as it was.
    func add(
        _ cover: EmbeddableCover, _ picture: FillPicture, of album: String, run: Int64, replacing former: Written? = nil
    ) throws -> Written {
        guard let parent = path.parent else { throw TagFailure.damaged }
        var row = Written(
            folder: parent, name: path.name, digest: cover.digest, width: cover.width, height: cover.height,
            album: album, run: run)
        (row.kind, row.replaced) = (.tags, former?.number)
        (row.root, row.disk) = (try state.root(of: parent), folder.disk)
        if let former {
            // A file that is there already stays as it is.
            let kept = BytePath(state.keptCover(former.digest))
            _ = try lane.change(TagChange(path: path, copy: kept, action: .take), length: 0)
        }
        let added = try add(cover, row, replacing: former) { row in
            do { return try state.begin(row, picture, options) } catch Objection.removed(let removed) {
                // A song with a picture of a fill has lost another one.
                if former == nil { try state.noteRemoved(row) }
                throw Objection.removed(removed)
            }
        }
        guard let added else { throw TagFailure(reason: "was changed meanwhile") }
        return added
    }

    /// Adds the picture of a row again that another one had replaced.
    /// - Returns: False for a song that has not the picture of the other one any more, or other audio: it is a person's.
    func putBack(_ cover: EmbeddableCover, _ row: Written, replacing newer: Written) throws -> Bool {
        try add(cover, row, replacing: newer) { row in try state.set(row, .begun) } != nil
    }

    /// The file changes once, so that a process that is killed leaves it with the one picture or the other.
    /// - Returns: nil if the picture to replace is not there.
    private func add(
        _ cover: EmbeddableCover, _ row: Written, replacing former: Written?, begin: (Written) throws -> Written
    ) throws -> Written? {
        let (name, file) = try open()
        let expected = OwnFile.Expected(try file.source.digest(), isSleeves: false)
        if row.number == 0, try state.isRemoved(row, FileStatus(file.source.status).modified) {
            throw Objection.removed(row.path)
        }
        var (bare, length): (NewFile?, Int) = (nil, file.length)
        if let former {
            guard let copy = try without(former, file) else { return nil }
            (bare, length) = (copy, Int(try copy.status().st_size))
        }
        let new = try NewFile(in: folder, mode: 0o600, type: file.fileExtension)
        try new.write(cover.bytes)
        guard let audio = try change(bare?.temporary, length, new, .add) else { throw TagFailure.damaged }
        var row = row
        row.length = Int(try new.status().st_size)
        row.song = .init(audio: audio, growth: (row.length ?? 0) - length, file: try new.source().digest())
        row.modified = FileStatus(file.source.status).modified
        let begun = row
        row = try begin(row)
        do {
            try replace(expected, by: new, name)
        } catch {
            if begun.number == 0 { try state.forget(row) } else { try state.save(begun) }
            throw error
        }
        return try state.set(row, .there)
    }

    /// Removes a cover that was added.
    /// - Returns: Whether it was there.
    /// - Throws: `OtherFormat`, `TagFailure` or `SystemError`; the file is as it was.
    func remove(_ row: Written) throws -> Bool {
        let (name, file) = try open()
        let expected = OwnFile.Expected(try file.source.digest(), isSleeves: false)
        guard let new = try without(row, file) else { return false }
        try replace(expected, by: new, name)
        return true
    }

    /// A copy of the file without the picture of a row; nil if it has not that, or other audio.
    private func without(_ row: Written, _ file: AudioFile) throws -> NewFile? {
        guard let song = row.song else { return nil }
        let copy = try NewFile(in: folder, mode: 0o600, type: file.fileExtension)
        let removal = TagChange.Action.remove(picture: row.digest, audio: song.audio, growth: song.growth)
        return try change(nil, file.length, copy, removal) == nil ? nil : copy
    }

    private func open() throws -> (FileName, AudioFile) {
        guard let name = FileName(path.name) else { throw TagFailure.damaged }
        let file = AudioFile(try folder.file(name), extension: MusicNames.fileExtension(name.bytes) ?? "")
        guard file.source.status.st_mode & 0o222 != 0 else {
            throw TagFailure(reason: "is read-only, so its tags are not written")
        }
        guard file.source.status.st_nlink == 1 else { throw Self.problem(.hasHardLinks) }
        return (name, file)
    }

    /// - Parameters:
    ///   - name: That of a copy in the file's folder; nil for the file itself.
    ///   - length: In bytes.
    /// - Returns: The digest of the audio of both files; nil if the picture to remove is not there.
    private func change(
        _ name: FileName?, _ length: Int, _ new: NewFile, _ action: TagChange.Action
    ) throws -> Digest? {
        guard let parent = path.parent else { throw TagFailure.damaged }
        let source = name.map { parent.appending($0.bytes) } ?? path
        let change = TagChange(path: source, copy: parent.appending(new.temporary.bytes), action: action)
        // There is no answer if the run is to end.
        guard let answer = try lane.change(change, length: length) else { throw CancellationError() }
        switch try answer.get() {
        case .made(let audio):
            return audio
        case .absent: return nil
        case .refused(let reason): throw TagFailure(reason: reason)
        case .otherFormat(let name): throw OtherFormat(name: name)
        case .failed(let error): throw SystemError("write", path: "\(path)", number: error)
        }
    }

    private func replace(_ expected: OwnFile.Expected, by new: NewFile, _ name: FileName) throws {
        do {
            try OwnFile(name, in: folder, state.journal).replace(expected, by: new, keepsHardLinks: true)
        } catch let refusal as OwnFile.Refusal {
            throw Self.problem(refusal)
        }
    }

    private static func problem(_ refusal: OwnFile.Refusal) -> TagFailure {
        TagFailure(reason: "\(refusal.reason), so its tags are not written")
    }
}
