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
        else { throw TagFailure.damaged }
        let type = MusicNames.fileExtension(NewFile.typedName(name.bytes)) ?? ""
        let folder = try OpenFolder(path: path.bytes)
        let file = AudioFile(try folder.file(name), extension: type)
        let tags = try read(change.path).get()
        let audio = try file.audioDigest()
        let pictures: PictureChange
        var added: EmbeddableCover?
        switch change.action {
        case .take: return .absent
        case .listen: return .made(audio: audio)
        case .add:
            guard tags.picture == nil else { throw TagFailure(reason: "has got a picture meanwhile") }
            let cover = try EmbeddableCover(folder.file(copyName).contents())
            (pictures, added) = (.add(cover), cover)
        case .remove(let picture, let expected, let growth):
            guard audio == expected else { return .absent }
            pictures = .remove(growth: max(0, growth)) { Digest(of: $0) == picture }
        }
        guard let splices = try file.container().splices(pictures) else { return .absent }
        let copy = try NewFile(sharing: copyName, in: folder)
        try copy.copy(file.source, with: splices)
        guard try AudioFile(copy.source(), extension: type).audioDigest() == audio else {
            throw TagFailure(reason: "was not written: the audio of the copy differs")
        }
        var found = try read(change.copy).get()
        let hasPictures =
            if let added {
                found.picture?.type == EmbeddedPicture.frontCover
                    && found.picture?.digest == added.digest && found.pictureCount == tags.pictureCount + 1
            } else {
                found.pictureCount == tags.pictureCount - 1
            }
        (found.pictureCount, found.picture) = (tags.pictureCount, tags.picture)
        guard hasPictures, found == tags else {
            throw TagFailure(reason: "was not written: the tags of the copy cannot be read as they should be")
        }
        return .made(audio: audio)
    }
}

/// A change of the pictures in a file's tags.
enum PictureChange {
    /// Adds a front cover. The file has none.
    case add(EmbeddableCover)
    /// Removes a picture that was added.
    /// - Parameters:
    ///   - growth: Bytes by which the file had grown then. What else the picture used was padding, and becomes padding again.
    ///   - isIt: Whether an image is the picture.
    case remove(growth: Int, isIt: ([UInt8]) -> Bool)
}

/// Where the audio and the tags are in a file of one format.
///
/// The parsers are Sleeve's own, and change nothing but the picture, the lengths around it and the padding: a library that renders all
/// tags loses what it does not know, such as the frames of ID3v2.2 and 2.3 that 2.4 has no longer.
protocol AudioContainer {
    /// What must not change: the audio, and all that is neither tags nor padding.
    var audio: [Range<Int>] { get }
    /// What must not change, although it is written otherwise when bytes move, such as the places of samples in the audio.
    var facts: [UInt8] { get }

    /// - Returns: What is replaced in the file; nil if the picture to remove is not there.
    /// - Throws: `TagFailure` or `SystemError`.
    func splices(_ change: PictureChange) throws -> [NewFile.Splice]?
}

extension AudioContainer {
    var facts: [UInt8] { [] }
}

extension AudioFile {
    /// - Throws: `TagFailure`, `OtherFormat` or `SystemError`.
    func container() throws -> any AudioContainer {
        let start = try ID3v2Tag.ranges(in: self).last?.upperBound ?? 0
        let head = try bytes(at: start, upTo: 64)
        if head.has("fLaC", at: 0) { return try FLACFile(self, start: start) }
        if start == 0, head.has("OggS", at: 0) { return try OggFile(self, head: head) }
        if start == 0, head.has("ftyp", at: 4) { return try MP4File(self) }
        guard fileExtension == "mp3", start > 0 || head.count > 1 && head[0] == 0xFF && head[1] >= 0xE0 else {
            throw TagFailure(reason: "has another format than its name says")
        }
        return try MP3File(self, start: start)
    }
}

/// A format into whose tags no pictures are written.
struct OtherFormat: Error, Hashable {
    /// For messages, such as `WMA`.
    var name: String
}
