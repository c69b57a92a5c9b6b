import CoverSizes
import Platform

extension TagPictures {
    /// Compares cover files with the pictures in the tags beside them by what they show, each pair once.
    /// - Returns: By the files' paths. Where one of a pair cannot be read, there is none.
    package func verdicts(
        _ places: [AuditedPlace], facts: [BytePath: CoverFacts], isCancelled: @Sendable () -> Bool
    ) -> Audit.Verdicts {
        var (verdicts, known): (Audit.Verdicts, [[String]: Likeness.Verdict?]) = ([:], [:])
        for place in places where !isCancelled() {
            guard let path = place.place.cover?.path, let file = facts[path], place.isComparable(file),
                let digest = file.digest, let picture = place.place.embedded.flatMap({ Digest($0.digest) })
            else { continue }
            let pair = [digest, picture.description]
            let verdict = known[pair] ?? verdict(of: path, with: picture, in: place.place.folders)
            known[pair] = verdict
            verdicts[path] = verdict
        }
        return verdicts
    }

    private func verdict(of path: BytePath, with picture: Digest, in folders: [BytePath]) -> Likeness.Verdict? {
        guard let ours = Likeness(of: path), let copy = file(of: picture, in: folders) else { return nil }
        defer { copy.withCString { _ = unlink($0) } }
        return Likeness(of: copy).map(ours.verdict)
    }
}

extension Likeness {
    fileprivate init?(of path: BytePath) {
        guard
            let (bytes, isWhole) = try? RegularFile.contents(of: path, maximumLength: CoverFacts.maximumLength),
            isWhole,
            let likeness = bytes.withUnsafeBytes({ Likeness($0) })
        else { return nil }
        self = likeness
    }
}
