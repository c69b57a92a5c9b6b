import Platform

extension TagPictures {
    /// Reads what the pictures show that stand for albums without a cover file, each once.
    package func read(_ places: [AuditedPlace], _ likenesses: Likenesses, isCancelled: @Sendable () -> Bool) {
        for place in places where place.covers.isEmpty && !isCancelled() {
            guard let picture = place.place.embedded.flatMap({ Digest($0.digest) }) else { continue }
            _ = likeness(of: picture, in: place.place.folders, likenesses)
        }
    }
}
