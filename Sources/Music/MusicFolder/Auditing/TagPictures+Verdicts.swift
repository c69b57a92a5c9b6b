import CoverSizes
import Platform

extension TagPictures {
    /// Reads what the pictures show that stand for albums without a cover file, each once.
    package func read(_ places: [AuditedPlace], _ likenesses: Likenesses, isCancelled: @Sendable () -> Bool) {
        for place in places where place.covers.isEmpty && !isCancelled() {
            guard let picture = place.place.embedded.flatMap({ Digest($0.digest) }) else { continue }
            _ = likeness(of: picture, in: place.place.folders, likenesses)
        }
    }

    /// Compares cover files with the pictures in the tags beside them by what they show, each pair once.
    /// - Returns: By the files' paths. Where one of a pair cannot be read, there is none.
    package func verdicts(
        _ places: [AuditedPlace], facts: [BytePath: CoverFacts], _ likenesses: Likenesses,
        isCancelled: @Sendable () -> Bool
    ) -> Audit.Verdicts {
        var (verdicts, known): (Audit.Verdicts, [[Digest]: Likeness.Verdict]) = ([:], [:])
        for place in places where !isCancelled() {
            guard let path = place.place.cover?.path, let file = facts[path], place.isComparable(file),
                let digest = file.digest.flatMap({ Digest($0) }),
                let picture = place.place.embedded.flatMap({ Digest($0.digest) }),
                let ours = likenesses.likeness(of: digest, at: path),
                let theirs = likeness(of: picture, in: place.place.folders, likenesses)
            else { continue }
            let verdict = known[[digest, picture]] ?? ours.verdict(with: theirs)
            known[[digest, picture]] = verdict
            verdicts[path] = verdict
        }
        return verdicts
    }
}
