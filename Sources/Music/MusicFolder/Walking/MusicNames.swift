/// Which names of a music folder matter.
package enum MusicNames {
    /// The extensions of audio files whose tags are read.
    static let audio: Set<String> = [
        "mp3", "mp2", "aac", "flac", "ogg", "oga", "opus", "spx", "m4a", "m4b", "wma", "wv", "ape", "aif", "aiff",
        "aifc",
        "wav", "dsf", "mpc", "tta",
    ]
    /// The extensions of audio files into whose tags covers are written.
    private static let writtenAudio: Set<String> = ["mp3", "flac", "ogg", "oga", "opus", "m4a", "m4b"]
    /// The extensions of audio files whose tags are not read.
    private static let unreadAudio: Set<String> = [
        "mka", "weba", "dff", "caf", "au", "w64", "ac3", "dts", "mp1", "m4p", "aa", "aax", "ra", "mid", "mod", "xm",
        "it",
    ]
    /// The extensions of pictures, the preferred one first.
    package static let pictures = ["jpg", "jpeg", "png", "webp", "avif", "jxl", "gif"]

    /// Empty files of these names exclude their folder. They are the conventions of Android, Navidrome and MPD.
    static let markers: Set<String> = [".nomedia", ".ndignore", ".mpdignore"]

    /// Whether the extension is that of an audio file whose tags are read.
    static func isAudio(_ name: [UInt8]) -> Bool { fileExtension(name).map(audio.contains) ?? false }

    /// Whether the extension is that of an audio file whose tags are not read.
    static func isUnreadAudio(_ name: [UInt8]) -> Bool { fileExtension(name).map(unreadAudio.contains) ?? false }

    /// Whether the extension is that of an audio file into whose tags covers are written.
    static func isWrittenAudio(_ name: [UInt8]) -> Bool { fileExtension(name).map(writtenAudio.contains) ?? false }

    /// Whether the extension is that of a picture.
    static func isPicture(_ name: [UInt8]) -> Bool { fileExtension(name).map(pictures.contains) ?? false }

    /// The extension of a name in lower case; nil without one, and if it is longer than any that is known.
    static func fileExtension(_ name: [UInt8]) -> String? {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, name.count - dot <= 5 else { return nil }
        return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    }
}
