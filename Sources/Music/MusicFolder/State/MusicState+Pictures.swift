import Files
import Platform

extension MusicState {
    /// What fills have written.
    func sleevesPictures() throws(Problem) -> SleevesPictures {
        var found = SleevesPictures()
        found.isFile = try sleevesFiles()
        for cover in try written(.tags) {
            found.inTags[cover.folder, default: [:]][Song.hash(of: cover.name)] = cover.digest.description
        }
        return found
    }

    /// Whether a fill has written a file, which is unchanged since.
    func sleevesFiles() throws(Problem) -> @Sendable (BytePath) -> Bool {
        let files = Dictionary(try written().map { ($0.path, $0) }) { $1 }
        return { files[$0]?.isUnchanged == true }
    }

    /// The cover of an album in a folder as it is now.
    /// - Throws: `SystemError`.
    func cover(_ titles: Set<String>, in folder: OpenFolder, at path: BytePath) throws(SystemError) -> CoverFile? {
        try CoverChoice(titles) { file in
            (try? self.written(in: path))?.last { $0.path == file }?.isUnchanged == true
        }.cover(in: folder, at: path)
    }
}
