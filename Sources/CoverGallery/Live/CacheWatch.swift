import CoverLibrary

/// Tells pages what the cache holds, when it has changed.
actor CacheWatch {
    private let library: LibraryAPI
    private let pages: Pages
    private(set) var state: String?
    /// Counting a large cache takes time, which is not to be most of what the disk thread does.
    private var notBefore = ContinuousClock.now

    init(_ library: LibraryAPI, _ pages: Pages) {
        self.library = library
        self.pages = pages
    }

    func look() async {
        let begun = ContinuousClock.now
        guard begun >= notBefore, await !pages.isEmpty, let totals = try? await library.cacheTotals() else { return }
        notBefore = .now + begun.duration(to: .now) * 20
        var object = JSONObject()
        object.add("entries", totals.entries)
        object.add("bytes", totals.chargedBytes)
        object.add("capacity", totals.capacity)
        object.add("hits", totals.hits)
        object.add("misses", totals.misses)
        if object.text == state { return }
        state = object.text
        await pages.tellAll("cache", object.text)
    }
}
