import CTagLib
import Files
import ImageHeader
import Platform

/// The process that reads tags, and makes changed copies of files, for another one. It answers each request with a line before it reads
/// the next, so that the other process knows which file it died of.
package struct TagWorker {
    /// Bytes of memory that it may allocate.
    var memoryLimit: Int
    /// Seconds for a file, after which it ends itself if the other process has not ended it; 0 for no end. A copy has a second more for
    /// each mebibyte.
    var lifetime: UInt32

    package init(memoryLimit: Int, lifetime: UInt32) { (self.memoryLimit, self.lifetime) = (memoryLimit, lifetime) }

    /// Runs to the end of the input.
    /// - Returns: Whether everything was answered.
    package func run(input: Int32, output: Int32) -> Bool {
        limitMemory()
        guard write(TagLine.greeting, to: output) else { return false }
        let reader = TagReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = readSome(buffer, from: input)
            if count <= 0 { return count == 0 && bytes.isEmpty }
            bytes += buffer[..<count]
            for line in TagLine.take(from: &bytes) {
                guard let request = TagRequest(line: line) else { return false }
                guard write(answer(request, reader), to: output) else { return false }
            }
        }
    }

    private func answer(_ request: TagRequest, _ reader: TagReader) -> [UInt8] {
        defer { alarm(0) }
        switch request {
        case .read(let path):
            alarm(lifetime)
            switch reader.read(path) {
            case .success(let tags): return TagLine.bytes(TagAnswer(tags: tags))
            case .failure(let failure): return TagLine.bytes(TagAnswer(failure: failure))
            }
        case .change(let change) where change.action == .take:
            alarm(lifetime)
            return TagLine.bytes(reader.take(change))
        case .change(let change):
            let length = (try? FileStatus(change.path.bytes, in: AT_FDCWD, followsLinks: false))?.size ?? 0
            if lifetime > 0 { alarm(lifetime + UInt32(clamping: length >> 20)) }
            return TagLine.bytes(ChangedCopy(read: reader.read).make(change))
        }
    }

    private func limitMemory() {
        #if os(Linux)
            var limit = rlimit(rlim_cur: rlim_t(memoryLimit), rlim_max: rlim_t(memoryLimit))
            setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
            // A core file for each hostile file would fill the disk.
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #endif
    }

    private func write(_ bytes: [UInt8], to output: Int32) -> Bool {
        bytes.withUnsafeBytes { writeAll($0, to: output) }
    }
}

/// A running worker, as the program that starts it knows it.
package struct TagWorkerProcess: Sendable {
    /// Ends it immediately.
    package var kill: @Sendable () -> Void
    /// Waits for its end. Returns the exit code; 128+N if signal N ended it.
    package var wait: @Sendable () -> Int32

    package init(kill: @escaping @Sendable () -> Void, wait: @escaping @Sendable () -> Int32) {
        (self.kill, self.wait) = (kill, wait)
    }

    /// Starts a worker whose standard input and output are these descriptors.
    package typealias Start = @Sendable (_ input: Int32, _ output: Int32) throws -> TagWorkerProcess
}

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
            byteCount: bytes.count, digest: Digest(of: bytes))
        if bytes.count <= Self.maximumKept { (lastBytes, last) = (Array(bytes), picture) }
        return picture
    }
}
