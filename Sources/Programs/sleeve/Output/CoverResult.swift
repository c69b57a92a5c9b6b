import CoverLibrary
import Platform

/// A cover in the result of a command.
struct CoverResult: Encodable {
    /// Nil for the file beside an album's music.
    private let url: String?
    private let digest, type: String
    private let bytes: Int
    /// Nil if the image's header does not say.
    private let width, height: Int?
    private let stale: Bool
    /// Of the file that has the cover; nil if none was asked for, or has it.
    private let path: String?

    init(_ cover: Cover, path: String?) {
        url = cover.url.isFileURL ? nil : cover.key
        (digest, type, bytes) = (cover.digest, cover.mediaType, cover.data.count)
        (width, height, stale, self.path) = (cover.width, cover.height, cover.isStale, path)
    }
}
