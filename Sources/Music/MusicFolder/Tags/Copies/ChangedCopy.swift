import Files
import Platform

/// Makes changed copies of audio files, and proves them, in the process that calls it.
///
/// A copy is proved by other means than those that made it: everything but the tags has the same digest, and TagLib reads the same tags,
/// and the expected pictures, from it.
struct ChangedCopy {
    /// Reads the tags of a file, as `TagReader` does.
    let read: (BytePath) -> Result<AudioTags, TagFailure>

    /// Makes a copy. It may crash or never return: the bytes are untrusted.
    func make(_ change: TagChange) -> ChangeOutcome {
        do {
            return try copy(change)
        } catch let problem as EmbeddingProblem {
            return .refused(reason: problem.reason)
        } catch let failure as TagFailure {
            return .refused(reason: failure.reason)
        } catch let format as OtherFormat {
            return .otherFormat(format.name)
        } catch let error as SystemError {
            return .failed(error: error.number)
        } catch {
            return .refused(reason: "\(error)")
        }
    }

    private func copy(_ change: TagChange) throws -> ChangeOutcome {
        guard let path = change.path.parent, let name = FileName(change.path.name),
            let copyName = FileName(change.copy.name)
        else { throw EmbeddingProblem.damaged }
        let type = MusicNames.fileExtension(NewFile.typedName(name.bytes)) ?? ""
        let folder = try OpenFolder(path: path.bytes)
        let file = AudioFile(try folder.file(name), extension: type)
        let tags = try read(change.path).get()
        let audio = try AudioDigest(file)
        let pictures: PictureChange
        var added: EmbeddableCover?
        switch change.action {
        case .take: return .absent
        case .listen: return .made(audio: audio.digest)
        case .add:
            guard tags.picture == nil else { throw EmbeddingProblem(reason: "has got a picture meanwhile") }
            let cover = try EmbeddableCover(folder.file(copyName).contents())
            (pictures, added) = (.add(cover), cover)
        case .remove(let picture, let expected, let growth):
            guard audio.digest == expected else { return .absent }
            pictures = .remove(growth: max(0, growth)) { Digest(of: $0) == picture }
        }
        guard let splices = try file.container().splices(pictures) else { return .absent }
        let copy = try NewFile(sharing: copyName, in: folder)
        try copy.copy(file.source, with: splices)
        guard try AudioDigest(AudioFile(copy.source(), extension: type)) == audio else {
            throw EmbeddingProblem(reason: "was not written: the audio of the copy differs")
        }
        var found = try read(change.copy).get()
        let hasPictures =
            if let added {
                found.picture?.type == EmbeddedPicture.frontCover
                    && found.picture?.digest == added.digest.description && found.pictureCount == tags.pictureCount + 1
            } else {
                found.pictureCount == tags.pictureCount - 1
            }
        (found.pictureCount, found.picture) = (tags.pictureCount, tags.picture)
        guard hasPictures, found == tags else {
            throw EmbeddingProblem(reason: "was not written: the tags of the copy cannot be read as they should be")
        }
        return .made(audio: audio.digest)
    }
}
