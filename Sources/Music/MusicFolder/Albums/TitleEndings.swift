import Platform

/// The ends of albums' titles that say which disc of several they are.
struct TitleEndings {
    private struct Discs: Hashable {
        var folder: BytePath
        var title: String
    }

    private var endings: [String: DiscName] = [:]
    /// The numbers that titles have in a folder, or in folders beside each other.
    private var numbers: [Discs: Set<Int>] = [:]

    init(_ tree: FolderTree) {
        for folder in tree.paths {
            for title in Set(tree[folder].tags.lazy.map(\.album)) {
                guard let ending = DiscName(title), ending.isStrong, !ending.title.isEmpty else { continue }
                endings[title] = ending
                for place in [folder, folder.parent].compactMap(\.self) {
                    numbers[Discs(folder: place, title: Folding.key(ending.title)), default: []].insert(ending.number)
                }
            }
        }
    }

    /// The disc that the end of a title says: in brackets or behind a sign; else if the first disc is beside it. A series may have the word
    /// in its name.
    func disc(_ title: String, in folder: BytePath) -> DiscName? {
        guard let ending = endings[title], !ending.isParted else { return endings[title] }
        let areDiscs = [folder, folder.parent].compactMap(\.self).contains { place in
            let found = numbers[Discs(folder: place, title: Folding.key(ending.title))] ?? []
            return found.count > 1 && found.contains(1)
        }
        return areDiscs ? ending : nil
    }
}
