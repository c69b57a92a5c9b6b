import CoverLibrary
import Hummingbird
import Platform

/// The albums whose covers need attention, and the covers that may be theirs.
struct FilterRoutes: Sendable {
    let model: GalleryModel

    func add(to router: RouterGroup<GalleryContext>) {
        router.get("/api/filters/{name}") { _, context in try await list(context.parameters.get("name") ?? "") }
        router.get("/api/doubtful/{id}") { _, context in try await candidates(of: album(context.albumID)) }
        router.post("/api/doubtful/{id}") { request, context in
            try await decide(request.json(Decision.self), album(context.albumID))
        }
    }

    private func list(_ name: String) async throws -> Response {
        guard let filter = AlbumFilter(rawValue: name) else {
            throw HTTPError(.notFound, message: "there is no such filter")
        }
        let ids = try await filter.albums(of: model)
        return .json { $0.add("albums", raw: jsonText { for id in ids { $0.add(id, true) } }) }
    }

    private func candidates(of album: Album) async throws -> Response {
        let candidates = try await review.candidates(of: album)
        let texts = await Self.concurrently(candidates.prefix(Self.maximumCandidates)) { await text(of: $0) }
        return .json { $0.add("candidates", raw: "[" + texts.joined(separator: ",") + "]") }
    }

    private static let maximumCandidates = 6

    /// - Throws: `HTTPError` if the gallery was opened without them.
    private var review: any CoverReview {
        get throws {
            guard let review = model.review else {
                throw HTTPError(.notFound, message: "there are no sources here")
            }
            return review
        }
    }

    /// A candidate for a page, which shows pictures from the cache alone.
    private func text(of candidate: ProposedCover) async -> String {
        var cover: Cover?
        var problem: CoverProblem?
        for picture in candidate.pictures where cover == nil {
            guard let url = URL(string: picture) else { continue }
            do throws(CoverFailure) {
                cover = try await model.library.cover(for: url)
            } catch {
                problem = CoverProblem(error)
            }
        }
        return jsonText {
            $0.add("picture", cover?.url.absoluteString ?? candidate.pictures.first)
            if let cover {
                $0.add("digest", cover.digest)
            } else if let problem {
                problem.add(to: &$0, as: "problem")
            }
            $0.add("source", candidate.source)
            $0.add("artist", candidate.artist)
            $0.add("title", candidate.title)
            $0.add("year", candidate.year)
            $0.add("reason", candidate.reason)
        }
    }

    private static func concurrently(
        _ candidates: ArraySlice<ProposedCover>, _ body: @escaping @Sendable (ProposedCover) async -> String
    ) async -> [String] {
        await withTaskGroup(of: (Int, String).self) { group in
            for (index, candidate) in candidates.enumerated() { group.addTask { (index, await body(candidate)) } }
            var texts: [Int: String] = [:]
            for await (index, text) in group { texts[index] = text }
            return texts.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private struct Decision: Decodable {
        /// A URL of the candidate that is the album's; null if none is.
        var picture: String?

        enum CodingKeys: String, CodingKey { case picture }

        init(from decoder: any Decoder) throws {
            // A body without it is a mistake, and refuses no candidates.
            picture = try decoder.container(keyedBy: CodingKeys.self).decode(String?.self, forKey: .picture)
        }
    }

    private func decide(_ decision: Decision, _ album: Album) async throws -> Response {
        guard let picture = decision.picture else {
            try await review.refuse(album)
            return AlbumRoutes.response("None of the covers is that of “\(album.title)”", id: album.id)
        }
        guard try await review.candidates(of: album).contains(where: { $0.pictures.contains(picture) }) else {
            throw HTTPError(.conflict, message: "that cover is no longer proposed")
        }
        // The URL alone says that it was accepted, so the library's undo takes that back.
        let edit = try await model.library.albums.edit(album.id) { $0.coverURL = picture }
        return AlbumRoutes.response(edit?.message(.new) ?? "Nothing was changed", id: album.id)
    }

    private func album(_ id: Album.ID) async throws -> Album {
        try await AlbumRoutes(model: model, base: .root).album(id)
    }
}
