import CoverSizes
import Files
import Platform

/// Takes pictures out of the tags of audio files, by a worker process: no file that is damaged ends this one.
package actor TagPictures {
    private nonisolated let thread = ThreadExecutor()
    private let lane: TagLane
    private let folder: BytePath
    /// Of files. Albums may have one picture, and each removes its own file.
    private var count = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - folder: A folder of this process, for the pictures.
    ///   - start: Starts a worker.
    package init(
        in folder: BytePath, start: @escaping TagWorkerProcess.Start, isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.folder = folder
        lane = TagLane(start: start, timeout: .seconds(30), isCancelled: isCancelled)
    }

    deinit { thread.shutdown() }

    /// What a picture shows that the songs of folders have in their tags; nil if it cannot be read.
    func likeness(of picture: Digest, in folders: [BytePath], _ known: Likenesses) -> Likeness? {
        known.likeness(of: picture) {
            guard let copy = file(of: picture, in: folders) else { return nil }
            defer { copy.withCString { _ = unlink($0) } }
            return Likeness(of: copy)
        }
    }

    /// Writes a picture that the songs of folders have in their tags into a file. - Returns: Its path; nil if no song has it any more.
    func file(of picture: Digest, in folders: [BytePath]) -> BytePath? {
        count += 1
        let copy = folder.appending(Array("tags-\(count)".utf8))
        for folder in folders {
            let names = (try? OpenFolder(path: folder.bytes).names()) ?? []
            for name in names.map(\.bytes).filter(MusicNames.isAudio).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                let taking = TagChange(path: folder.appending(name), copy: copy, action: .take)
                guard let outcome = try? lane.change(taking, length: 0) else { return nil }
                if case .success(.made(picture)) = outcome { return copy }
                copy.withCString { _ = unlink($0) }
            }
        }
        return nil
    }
}
