import CoverLibrary
import Logging
import OriginServer
import Platform

/// The starter albums, for a person who opens the gallery or starts a prefetch before there is a library. Commands that read one create none: a
/// mistyped path would bring invented albums into lists and exports.
enum StarterLibrary {
    /// Creates the library file with the starter albums if there is none, and puts the starters' covers into the cache if they are
    /// not there: nothing serves them.
    /// - Throws: `LibraryError` if the library file cannot be read or created.
    static func prepare(_ library: LibraryAPI) async throws {
        let path = library.configuration.libraryPath
        if try AlbumFile.createStarters(path) {
            library.configuration.logger.notice(
                "created \(path) with twelve starter albums; `sleeve album delete` removes them")
        }
        for url in try await library.albums.all().compactMap(\.coverURL) {
            guard let slug = StarterAlbums.slug(of: url), let bytes = CoverImage.starter(slug),
                let location = URL(string: url)
            else { continue }
            do throws(CoverFailure) {
                if try await library.cachedCover(for: location) == nil {
                    try await library.store(Data(bytes), for: location)
                }
            } catch {
                // The command reports the cover as missing.
                library.configuration.logger.warning("cannot store the cover of a starter album: \(error.detail)")
                return
            }
        }
    }
}
