import Platform

/// Changes the pictures of one audio file: writes a changed copy, proves it, and puts it in the place of the file.
///
/// The file has its old bytes or its new ones, whenever the process is killed. The copy is proved by other means than those that made it:
/// everything but the tags has the same digest, and TagLib reads the same tags, and the expected pictures, from it.
struct TagWriter {
    let lane: TagLane
    let state: MusicState

    /// A file to change.
    struct Target {
        var folder: OpenFolder
        var path: BytePath
        /// As TagLib reads them.
        var tags: AudioTags
    }

    /// Adds a front cover to a file that has none.
    /// - Returns: Bytes written.
    /// - Throws: `EmbeddingProblem` or `SystemError`; the file is as it was.
    func add(_ cover: EmbeddableCover, to target: Target, run: Int64) throws -> Int {
        let (name, file) = try open(target)
        let new = try copy(file, .add(cover), target) { tags in
            tags.picture?.type == EmbeddedPicture.frontCover && tags.picture?.digest == cover.digest.description
                && tags.pictureCount == target.tags.pictureCount + 1
        }
        guard let new, let folder = target.path.parent else { throw EmbeddingProblem.damaged }
        let row = EmbeddedCover(
            folder: folder, name: name.bytes, picture: cover.digest, audio: new.audio.digest,
            growth: Int(try new.file.status().st_size) - file.length, run: run)
        try state.save(row)
        do {
            try commit(new.file, as: name, file)
        } catch {
            try state.forget(row)
            throw error
        }
        return Int(try new.file.status().st_size)
    }

    /// Removes a cover that was added.
    /// - Returns: Whether it was there.
    /// - Throws: `EmbeddingProblem` or `SystemError`; the file is as it was.
    func remove(_ cover: EmbeddedCover, from target: Target) throws -> Bool {
        let (name, file) = try open(target)
        guard try AudioDigest(file).digest == cover.audio else { return false }
        let change = PictureChange.remove(growth: max(0, cover.growth)) { Digest(of: $0) == cover.picture }
        let new = try copy(file, change, target) { $0.pictureCount == target.tags.pictureCount - 1 }
        guard let new else { return false }
        try commit(new.file, as: name, file)
        return true
    }

    private func open(_ target: Target) throws -> (FileName, AudioFile) {
        guard let name = FileName(target.path.name) else { throw EmbeddingProblem.damaged }
        let file = AudioFile(try target.folder.file(name), extension: MusicNames.fileExtension(name.bytes) ?? "")
        guard file.source.status.st_mode & 0o222 != 0 else {
            throw EmbeddingProblem(reason: "is read-only, so its tags are not written")
        }
        guard file.source.status.st_nlink == 1 else {
            throw EmbeddingProblem(reason: "has several names (hard links), so its tags are not written")
        }
        return (name, file)
    }

    /// - Returns: The proved copy; nil if the picture to remove is not there.
    private func copy(
        _ file: AudioFile, _ change: PictureChange, _ target: Target, hasPictures: (AudioTags) -> Bool
    ) throws -> (file: NewFile, audio: AudioDigest)? {
        guard let splices = try file.container().splices(change) else { return nil }
        let audio = try AudioDigest(file)
        let new = try NewFile(in: target.folder, mode: 0o600, type: file.fileExtension)
        try new.copy(file.source, with: splices)
        do throws(SystemError) {
            try new.copyAttributes(of: file.source)
        } catch {
            throw EmbeddingProblem(
                reason: "was not written: the copy cannot get its owner, permissions and attributes: \(error.reason)")
        }
        try new.sync()
        let written = AudioFile(try new.reopened(), extension: file.fileExtension)
        guard try AudioDigest(written) == audio, let folder = target.path.parent else {
            throw EmbeddingProblem(reason: "was not written: the audio of the copy differs")
        }
        let answers = try lane.read([folder.appending(new.temporary.bytes)])
        // There is none if the run is to end.
        guard var tags = try answers.first?.get() else { throw CancellationError() }
        let isProved = hasPictures(tags)
        (tags.pictureCount, tags.picture) = (target.tags.pictureCount, target.tags.picture)
        guard isProved, tags == target.tags else {
            throw EmbeddingProblem(reason: "was not written: the tags of the copy cannot be read as they should be")
        }
        return (new, audio)
    }

    private func commit(_ new: NewFile, as name: FileName, _ file: AudioFile) throws {
        let (before, now) = (file.source.status, try new.folder.status(of: name))
        guard let now, now.st_dev == before.st_dev, now.st_ino == before.st_ino, now.st_size == before.st_size,
            now.st_nlink == 1, FileStatus(now).modified == FileStatus(before).modified,
            FileStatus(now).changed == FileStatus(before).changed
        else { throw EmbeddingProblem(reason: "was changed meanwhile, so its tags are not written") }
        try new.commit(as: name, replacing: true)
    }
}
