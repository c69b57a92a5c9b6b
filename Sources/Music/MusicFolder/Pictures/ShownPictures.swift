/// The types of pictures that players show. Others are not written: the album would look as if it had no cover.
enum ShownPictures {
    static let inTags: Set = ["image/jpeg", "image/png"]
    private static let besideMusic = inTags.union(["image/webp", "image/gif"])

    /// Why a file beside music would not be shown, as a clause about the picture; nil if it is.
    /// - Parameter mediaType: By its first bytes.
    static func refusal(ofFile mediaType: String?) -> String? {
        guard let mediaType, !besideMusic.contains(mediaType) else { return nil }
        let name = mediaType.split(separator: "/").last.map { $0.uppercased() } ?? mediaType
        return "is \(name), which players do not show beside music"
    }
}
