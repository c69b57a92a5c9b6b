import Files
package import Platform

/// The secret that browsers and programs send to a gallery. Its address holds it.
package enum GalleryToken {
    /// In characters.
    private static let minimumLength = 16
    private static let fileName = FileName("token")!

    /// Whether a text may be a token: at least 16 letters, digits, - and _, which need no escape in an address or a cookie.
    package static func isValid(_ text: String) -> Bool {
        text.utf8.count >= minimumLength
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }

    /// A new token: 128 bits of the system's random source.
    package static func random() -> String {
        var source = SystemRandomNumberGenerator()
        return (0..<16).map { _ in
            let byte = UInt8.random(in: 0...255, using: &source)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The token in the file `token` of a folder, which only its owner may read. The first call makes it, so that bookmarks and installed pages
    /// outlive the program. A file of another account, or that others may read, is replaced.
    /// - Parameter path: The folder; created if it is missing.
    /// - Throws: `SystemError`.
    package static func kept(in path: String) throws(SystemError) -> String {
        try OwnedPath.makeFolders(path)
        let folder = try OpenFolder(path: path)
        if let token = read(folder) { return token }
        let token = random()
        let file = try NewFile(in: folder, mode: 0o600)
        try file.write(Array((token + "\n").utf8))
        try file.sync()
        do throws(SystemError) {
            try file.commit(as: fileName)
        } catch {
            guard error.cause == .exists else { throw error }
            // Another process was first, or the file is none that can be used.
            if let token = read(folder) { return token }
            try file.commit(as: fileName, replacing: true)
        }
        try folder.sync()
        return token
    }

    private static func read(_ folder: OpenFolder) -> String? {
        do throws(SystemError) {
            let file = try folder.file(fileName)
            guard file.status.st_uid == geteuid(), file.status.st_mode & 0o077 == 0 else { return nil }
            let token = String(decoding: try file.bytes(at: 0, count: 256), as: UTF8.self).filter { $0 != "\n" }
            return isValid(token) ? token : nil
        } catch {
            return nil
        }
    }
}
