import CTagLib
import Files
import ImageHeader
import Platform

/// Reads the tags of files with TagLib, in the process that calls it.
final class TagReader {
    private var (tags, yearRank) = (AudioTags(), AudioTags.noYear)
    /// The last picture. Most albums have one picture in all of their files: it is hashed once.
    private var (lastBytes, last): ([UInt8], EmbeddedPicture?) = ([], nil)
    /// A picture larger than this is not kept for comparison.
    private static let maximumKept = 16 << 20

    /// Pictures of the type "other": of several nothing says which one is the cover.
    private var untyped = 0
    /// The bytes of the picture that `read` has found last; only if `keepsPicture`.
    private var (keepsPicture, kept) = (false, [UInt8]())

    /// Writes the picture of a file into a new file. - Returns: Its digest in `made`.
    func take(_ change: TagChange) -> ChangeOutcome {
        keepsPicture = true
        defer { (keepsPicture, kept) = (false, []) }
        guard case .success(let tags) = read(change.path), tags.picture != nil else { return .absent }
        let file = change.copy.withCString { open($0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        guard file >= 0 else { return .failed(error: errno) }
        defer { close(file) }
        guard kept.withUnsafeBytes({ writeAll($0, to: file) }) else { return .failed(error: errno) }
        return .made(audio: Digest(of: kept))
    }

    /// Reads a file. It may block, crash or never return: the parsers are large, and the bytes are untrusted.
    func read(_ path: BytePath) -> Result<AudioTags, TagFailure> {
        let (descriptor, status): (Int32, FileStatus)
        do throws(MusicProblem) {
            (descriptor, status) = try RegularFile.open(path)
        } catch {
            return .failure(.init(reason: error.reason, isTransient: true))
        }
        if status.size == 0 {
            close(descriptor)
            return .failure(.init(reason: "is empty"))
        }
        (tags, yearRank, untyped) = (AudioTags(), AudioTags.noYear, 0)
        var visitor = sleeve_tag_visitor(
            context: Unmanaged.passUnretained(self).toOpaque(),
            text: { context, key, keyCount, value, valueCount in
                TagReader.of(context).add(TagReader.text(key, keyCount), TagReader.text(value, valueCount))
            },
            picture: { context, type, _, _, bytes, count in
                TagReader.of(context).add(UnsafeRawBufferPointer(start: bytes, count: count), type: Int(type))
            },
            length: { context, milliseconds in TagReader.of(context).tags.length = Int(milliseconds) })
        let code = sleeve_read_tags(descriptor, MusicNames.fileExtension(NewFile.typedName(path.name)) ?? "", &visitor)
        switch Int(code) {
        case Int(sleeve_tags_read):
            if untyped > 1, tags.picture?.type != EmbeddedPicture.frontCover { tags.picture = nil }
            return .success(tags)
        case Int(sleeve_tags_invalid):
            return .failure(.init(reason: "is damaged, or no audio file of its name's format"))
        case Int(sleeve_tags_unknown_format): return .failure(.init(reason: "has an unknown format"))
        case Int(sleeve_tags_out_of_memory): return .failure(.init(reason: "its tags need too much memory"))
        default: return .failure(.init(reason: "its tags cannot be parsed"))
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> TagReader {
        Unmanaged<TagReader>.fromOpaque(context!).takeUnretainedValue()
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    private func add(_ key: String, _ value: String) { tags.add(key, value, yearRank: &yearRank) }

    private func add(_ bytes: UnsafeRawBufferPointer, type: Int) {
        tags.pictureCount += 1
        let isFront = type == EmbeddedPicture.frontCover
        // Backs, artists, leaflets and icons say themselves that they are no cover.
        guard isFront || type == EmbeddedPicture.other else { return }
        if !isFront { untyped += 1 }
        if tags.picture.map({ isFront && $0.type != EmbeddedPicture.frontCover }) ?? true {
            tags.picture = picture(bytes, type)
            if keepsPicture { kept = Array(bytes) }
        }
    }

    private func picture(_ bytes: UnsafeRawBufferPointer, _ type: Int) -> EmbeddedPicture {
        let isSame = lastBytes.withUnsafeBytes {
            $0.count == bytes.count && memcmp($0.baseAddress!, bytes.baseAddress!, $0.count) == 0
        }
        if isSame, var last {
            last.type = type
            return last
        }
        let header = ImageHeader(bytes)
        let picture = EmbeddedPicture(
            type: type, mediaType: header?.mediaType, width: header?.width, height: header?.height,
            byteCount: bytes.count, digest: Digest(of: bytes).description)
        if bytes.count <= Self.maximumKept { (lastBytes, last) = (Array(bytes), picture) }
        return picture
    }
}
