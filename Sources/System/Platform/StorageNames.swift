/// Names that storage systems and desktops create in any folder: thumbnails, snapshots, deleted files and settings.
package enum StorageNames {
    /// In lower case.
    private static let all: Set<String> = [
        "@eadir", "#recycle", "#snapshot", "@recycle", "@recently-snapshot", "lost+found", "$recycle.bin",
        "system volume information", "thumbs.db", "ehthumbs.db", "desktop.ini",
    ]

    /// Whether a name is one of them. Names that begin with a dot are not among them.
    package static func contains(_ name: some Collection<UInt8>) -> Bool {
        all.contains(String(decoding: name, as: UTF8.self).lowercased())
    }
}
