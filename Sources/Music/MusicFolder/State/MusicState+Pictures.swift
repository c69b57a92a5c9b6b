import Files
import Platform

extension MusicState {
    /// What fills have written.
    func sleevesPictures() throws(Problem) -> SleevesPictures {
        let files = Dictionary(try written().map { ($0.path, $0) }) { $1 }
        var found = SleevesPictures()
        found.isFile = { files[$0]?.isUnchanged == true }
        for cover in try written(.tags) {
            found.inTags[cover.folder, default: [:]][Song.hash(of: cover.name)] = cover.digest.description
        }
        return found
    }

    /// The cover of an album in a folder as it is now.
    /// - Throws: `SystemError`.
    func cover(_ titles: Set<String>, in folder: OpenFolder, at path: BytePath) throws(SystemError) -> CoverFile? {
        try CoverChoice(titles) { (try? self.sleevesPictures())?.isFile($0) == true }.cover(in: folder, at: path)
    }
}
