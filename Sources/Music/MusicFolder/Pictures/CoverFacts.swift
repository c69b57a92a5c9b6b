import CoverSizes
import ImageHeader
package import Platform

/// What the bytes of a cover say of it.
package struct CoverFacts: Sendable, Hashable {
    /// As `ImageHeader` has it; nil if it is no image that is known.
    package var mediaType: String?
    /// In pixels; nil if the header does not say.
    package var width: Int?
    package var height: Int?
    /// Nil for a file that was not read whole.
    package var digest: Digest?
    /// Why it is no whole image, for a person; nil if it is one.
    package var damage: String?

    package init() {}

    /// These formats have the size in a place that every decoder needs.
    private static let sizedTypes: Set<String?> = ["image/jpeg", "image/png", "image/gif", "image/webp"]

    /// Reads a file.
    /// - Parameter likenesses: They are given what the picture shows; nil if it is not compared.
    package init(of path: BytePath, _ likenesses: Likenesses? = nil) {
        do throws(MusicProblem) {
            let (bytes, isWhole) = try RegularFile.contents(of: path)
            bytes.withUnsafeBytes { bytes in
                judge(bytes, isWhole: isWhole)
                if let digest, damage == nil {
                    _ = likenesses?.likeness(of: digest) { Likeness(bytes) }
                }
            }
        } catch {
            damage = "cannot be read: \(error.reason)"
        }
    }

    private mutating func judge(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        if isWhole { digest = Digest(of: bytes) }
        guard let header = ImageHeader(bytes) else {
            damage = "is no image but \(ImageHeader.describe(bytes))"
            return
        }
        (mediaType, width, height) = (header.mediaType, header.width, header.height)
        if isWhole, !ImageHeader.isComplete(bytes) {
            damage = "is cut off"
        } else if width == nil, Self.sizedTypes.contains(mediaType) {
            damage = "has no valid size in its header"
        }
    }

    /// Reads files one after the other, on a thread of their own. A cancelled run leaves the rest out.
    /// - Parameters:
    ///   - likenesses: As of a file.
    ///   - progress: Called after each file with the number of files that have been read.
    ///   - isCancelled: Called before each file.
    package static func read(
        _ paths: [BytePath], _ likenesses: Likenesses? = nil, progress: @escaping @Sendable (Int) -> Void,
        isCancelled: @escaping @Sendable () -> Bool
    ) async -> [BytePath: CoverFacts] {
        await WorkThread.run {
            var facts: [BytePath: CoverFacts] = [:]
            for path in paths where !isCancelled() {
                facts[path] = CoverFacts(of: path, likenesses)
                progress(facts.count)
            }
            return facts
        }
    }
}

/// The types of pictures that players show. Others are not written: the album would look as if it had no cover.
enum ShownPictures {
    static let inTags: Set = ["image/jpeg", "image/png"]
    private static let besideMusic = inTags.union(["image/webp", "image/gif"])

    /// Why a file beside music would not be shown, as a clause about the picture; nil if it is.
    /// - Parameter mediaType: By its first bytes.
    static func refusal(ofFile mediaType: String?) -> String? {
        guard let mediaType, !besideMusic.contains(mediaType) else { return nil }
        let name = mediaType.split(separator: "/").last.map { $0.uppercased() } ?? mediaType
        return "is \(name), which players do not show beside music"
    }
}
