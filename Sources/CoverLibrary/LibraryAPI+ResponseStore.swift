/// The library as a mirror of an origin.
extension LibraryAPI {
    /// A mirror of what is under `origin`, on this library's cache; with `isOffline` it answers from the cache alone. Close it
    /// before the library.
    /// - Throws: `LibraryError`: `origin` is no URL of the kind.
    package func mirror(of origin: String) throws -> Mirror { try Mirror(self, origin: origin) }
}
