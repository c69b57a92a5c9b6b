extension URL {
    /// The absolute path of a file URL, which a later `chdir` does not change; nil for any other URL.
    ///
    /// The parts of a relative path stay as they are: `..` behind a symbolic link is the parent of the link's target, as for every system call.
    package var filePath: String? {
        guard isFileURL, ["", "localhost"].contains(host() ?? "") else { return nil }
        let relative = relativePath
        if relative.hasPrefix("/") { return relative }
        // Without a directory as its base, RFC 3986 section 5.3 says what it is relative to.
        guard let baseURL, baseURL.hasDirectoryPath, let base = baseURL.filePath else {
            return path.hasPrefix("/") ? path : nil
        }
        return relative == "." ? base : (base == "/" ? "" : base) + "/" + relative
    }

    /// The same.
    /// - Parameter error: made of the URL and the reason if it is no URL of a file.
    package func filePath<Failure: Error>(
        or error: (_ path: String, _ reason: String) -> Failure
    ) throws(Failure) -> String {
        if let path = filePath { return path }
        throw error(Redaction.displayable(absoluteString), "it is not the URL of a file")
    }
}
