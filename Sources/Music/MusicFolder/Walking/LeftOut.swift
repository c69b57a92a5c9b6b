/// The music that a scan has seen and left out, apart from what could not be read.
package struct LeftOut: Sendable, Hashable {
    package enum Reason: Sendable {
        /// A folder whose name begins with a point.
        case hidden
        /// A folder that contains one of `MusicNames.markers`.
        case excluded
        /// A file of a format whose tags are not read.
        case format
        /// A folder whose audio files are images of discs, with a CUE sheet each.
        case image
    }

    package private(set) var hidden: [BytePath] = []
    package private(set) var excluded: [BytePath] = []
    /// The number of files by their extensions in capitals.
    package private(set) var formats: [String: Int] = [:]
    private var images: Set<BytePath> = []
    /// Audio files without an album in their tags, without those in `untaggedImages`.
    package private(set) var untagged = 0
    package private(set) var untaggedImages = 0

    package init() {}

    mutating func add(_ reason: Reason, _ path: BytePath) {
        switch reason {
        case .hidden: hidden.append(path)
        case .excluded: excluded.append(path)
        case .format: formats[(MusicNames.fileExtension(path.name) ?? "").uppercased(), default: 0] += 1
        case .image: images.insert(path)
        }
    }

    /// Counts the audio files of a folder that have no album in their tags.
    mutating func addUntagged(_ count: Int, in folder: BytePath) {
        if images.contains(folder) { untaggedImages += count } else { untagged += count }
    }
}
