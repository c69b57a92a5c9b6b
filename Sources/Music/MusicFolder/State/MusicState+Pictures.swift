import Files
import Platform

extension MusicState {
    /// What fills have written.
    func sleevesPictures() throws(Problem) -> SleevesPictures {
        var found = SleevesPictures()
        let albums = try filled()
        found.isFile = { albums($0) != nil }
        found.inTags = Set(try written(.tags).filter { $0.state == .there }.map(\.digest.description))
        return found
    }

    /// The id of the album for which a fill has written a file, which is unchanged since.
    func filled() throws(Problem) -> @Sendable (BytePath) -> String? {
        let files = Dictionary(try written().map { ($0.path, $0) }) { $1 }
        return { path in files[path].flatMap { $0.isUnchanged ? $0.album : nil } }
    }

    /// The cover of an album in a folder as it is now.
    /// - Throws: `SystemError`.
    func cover(_ titles: Set<String>, in folder: OpenFolder, at path: BytePath) throws(SystemError) -> CoverFile? {
        try CoverChoice(titles) { file in
            (try? self.written(in: path))?.last { $0.path == file }?.isUnchanged == true
        }.cover(in: folder, at: path)
    }
}
