#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The library file: albums as JSON that people can read and edit.
package enum AlbumFile {
    /// Makes the file from the starter albums unless it is there.
    /// - Parameter origin: where the starter albums' covers are, such as `http://127.0.0.1:8731`.
    /// - Returns: whether it was made.
    /// - Throws: `LibraryError`.
    @discardableResult
    package static func createIfMissing(_ path: String, origin: String? = nil) throws -> Bool {
        let files = FileManager.default
        if files.fileExists(atPath: path) { return false }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .withoutEscapingSlashes]
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        if !folder.isEmpty { try? files.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        guard var data = try? encoder.encode(StarterAlbums.albums(origin: origin ?? StarterAlbums.defaultOrigin)) else {
            throw LibraryError(message: "cannot write the starter albums")
        }
        data.append(UInt8(ascii: "\n"))
        // Written beside and renamed: a library file is whole or not there.
        let beside = "\(path).\(getpid()).part"
        guard let file = fopen(beside, "w") else { throw failure(path) }
        let written = data.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        guard fclose(file) == 0, written == data.count, rename(beside, path) == 0 else {
            let error = failure(path)
            unlink(beside)
            throw error
        }
        return true
    }

    private static func failure(_ path: String) -> LibraryError {
        LibraryError(message: "cannot create the library file \(path): \(String(cString: strerror(errno)))")
    }

    /// The albums of a library file, in order, those without a cover URL too.
    /// - Throws: `LibraryError`, with the place in the file.
    static func read(_ path: String) throws -> [Album] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw LibraryError(message: "cannot read the library file \(path)")
        }
        do {
            return try JSONDecoder().decode([Album].self, from: data)
        } catch {
            throw LibraryError(message: "\(path) is not a JSON array of albums: \(error)")
        }
    }
}
