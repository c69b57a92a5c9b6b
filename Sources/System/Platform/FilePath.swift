/// Paths as text.
package enum FilePath {
    /// The path of the directory that `path` lies in.
    package static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// The path without symbolic links; `path` itself if it does not exist. A link to a missing file leads to that file.
    package static func resolvingLinks(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return target(of: path) ?? path }
        defer { free(real) }
        return String(cString: real)
    }

    /// The directory that a file is in, or would be created in, without symbolic links.
    package static func realDirectory(of path: String) -> String {
        resolvingLinks(directory(of: resolvingLinks(path)))
    }

    /// The path that a symbolic link holds; nil if `path` is none.
    private static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { readlink(path, $0.baseAddress!, $0.count) }
        }
        guard count > 0, count < buffer.count else { return nil }
        let target = String(decoding: buffer[..<count], as: UTF8.self)
        return target.hasPrefix("/") ? target : directory(of: path) + "/" + target
    }
}
