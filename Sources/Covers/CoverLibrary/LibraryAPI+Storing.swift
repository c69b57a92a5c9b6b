import AlbumLibrary
import CoverCache
public import CoverFetch
import CurlHTTP
import Files
import ImageHeader
public import Platform

/// Storing covers that were not downloaded.
extension LibraryAPI {
    /// Stores bytes as the cover of a URL: a file that a person chose, or a picture that comes with a program. It replaces the cover
    /// that is cached for the URL, and is fresh for ten years. It is on disk, safe from power loss, when this returns.
    ///
    /// A cover without an address on the web belongs under a URL whose host ends in `.invalid` (RFC 6761 §6.4), such as
    /// `https://covers.invalid/low-tide.jpg`. Such a URL is never requested, and its cover is always fresh.
    /// - Parameters:
    ///   - body: an image of at most `configuration.maximumSize` bytes.
    ///   - url: an http or https URL.
    ///   - isPinned: Pin the cover, so that it is never evicted. A pin that exists stays either way.
    /// - Returns: the stored cover.
    /// - Throws: `CoverFailure`: `badURL`; `notAnImage`; `tooLarge` for the configuration or the cache; `cache` if the disk cannot be
    ///   written; `cancelled` if the library is closed.
    @discardableResult
    public func store(_ body: Data, for url: URL, pinned isPinned: Bool = false) async throws(CoverFailure) -> Cover {
        let picture = try GivenPicture(
            Array(body), try covers.key(url.absoluteString), limit: configuration.maximumSize)
        do {
            let (stored, pinning) = try await covers.persistency.withWriter { writer in
                let stored = try GivenPicture.store([picture], writer)[0]
                return (stored, Result { if isPinned, let key = try? stored.get().url { _ = try writer.pin([key]) } })
            }
            covers.hub.publish(.arrived(try stored.get()))
            try pinning.get()
            return Cover(picture.url.string, picture.header, picture.body)
        } catch let failure as CoverFailure {
            throw failure
        } catch {
            throw CoverFailure(cache: error, url: picture.url.string)
        }
    }
}

extension LibraryAPI {
    /// Writes a cover as a file into a folder, such as one of music: whole or not at all, and durable when it returns. What is there stays: a picture
    /// of this name, whatever its type and whoever wrote it.
    /// - Parameters:
    ///   - cover: the cover.
    ///   - folder: the folder, which is there.
    ///   - name: of the file, without its extension, which follows from the cover's type.
    /// - Returns: the file of this name, and whether it is new.
    /// - Throws: `LibraryError` if the name is none of a file, or the folder cannot be read or written.
    @discardableResult
    public func place(
        _ cover: Cover, in folder: URL, as name: String = "cover"
    ) async throws(LibraryError) -> (file: URL, isNew: Bool) {
        let path = try folder.filePath { LibraryError.unwritableFile(path: $0, reason: $1) }
        if cover.data.isEmpty { throw .unwritableFile(path: path, reason: "the cover has no bytes") }
        guard let file = FileName("\(name).\(PictureType.fileExtension(cover.mediaType))"), !name.isEmpty else {
            throw .unwritableFile(path: path, reason: "“\(name)” is no name of a file")
        }
        do {
            return try await covers.shelf.read { _ in
                let opened = try OpenFolder(path: path)
                func found() throws -> FileName? { try opened.names().first { $0.isPicture(name) } }
                if let found = try found() { return (folder.appending(path: "\(found)"), false) }
                let new = try NewFile(in: opened)
                try new.write(Array(cover.data))
                try new.sync()
                do throws(SystemError) {
                    try OwnFile(file, in: opened, nil).create(new)
                } catch {
                    // Another program has just written one.
                    guard error.cause == .exists, let found = try found() else { throw error }
                    return (folder.appending(path: "\(found)"), false)
                }
                try opened.sync()
                return (folder.appending(path: "\(file)"), true)
            }
        } catch let error as SystemError {
            throw .unwritableFile(path: path, reason: error.reason)
        } catch {
            throw LibraryError(error)
        }
    }
}

extension FileName {
    /// Whether it is that of a picture, in any case.
    fileprivate func isPicture(_ name: String) -> Bool {
        let text = description.lowercased()
        guard let dot = text.lastIndex(of: "."), text[..<dot] == name.lowercased() else { return false }
        return PictureType.mediaType(extension: String(text[text.index(after: dot)...])) != nil
    }
}

extension CoverFailure {
    /// Why a cover could not be stored or read.
    /// - Parameter error: of the cache.
    init(cache error: any Error, url key: String) {
        let error = CacheError(error)
        let kind: Kind =
            switch error {
            // Only this cover cannot be stored. Another failure of the cache ends a run.
            case .largerThanCapacity, .longMetadata, .noRoom: .tooLarge
            case .unwritableCover: .notStorable
            case .closed: .closed
            default: .cache
            }
        self.init(kind, url: key, detail: "\(error)")
    }
}
