import Files
import Platform

/// The remote library that a library remembers for its edits: a line in the file `remote` of its state directory.
package enum RememberedRemote {
    private static func file(of library: String) -> String {
        StateDirectory.path(of: FilePath.resolvingLinks(library)) + "/remote"
    }

    /// The URL that a library file's edits are sent to; nil if there is none.
    package static func url(of library: String) -> String? {
        guard let bytes = FileManager.default.contents(atPath: file(of: library)) else { return nil }
        let url = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        return url.isEmpty ? nil : url
    }

    /// Remembers a URL, or none.
    /// - Throws: `LibraryError` if the state directory cannot be written.
    package static func set(_ url: String?, of library: String) throws(LibraryError) {
        let path = file(of: library)
        guard let url else {
            if unlink(path) != 0, errno != ENOENT { throw LibraryError(SystemError("remove", path: path)) }
            return
        }
        try? OwnedPath.makeFolders(FilePath.directory(of: path))
        do throws(SystemError) {
            let file = try AtomicFile(Array((url + "\n").utf8), replacing: path)
            try file.replace()
        } catch {
            throw LibraryError(error)
        }
    }
}
