import AlbumLibrary
import CoverLibrary
import CoverSources
import HTTPTypes
import Platform
import WebServer

/// The albums whose covers need attention, and the covers that may be theirs.
struct FilterRoutes: Sendable {
    let model: GalleryModel

    func add(to routes: inout Routes) {
        routes.get("api/filters") { _, _ in await counts() }
        routes.get("api/filters/{name}") { _, parameters in try await list(parameters["name"]) }
        routes.get("api/doubtful/{id}") { _, parameters in try await candidates(of: album(parameters.albumID)) }
        routes.post("api/doubtful/{id}") { request, parameters in
            try await decide(request.json(Decision.self), album(parameters.albumID))
        }
    }

    private func list(_ name: String) async throws -> Response {
        guard let filter = AlbumFilter(rawValue: name) else {
            throw HTTPError(.notFound, message: "there is no such filter")
        }
        let ids = try await filter.albums(of: model)
        return .json { $0.add("albums", raw: jsonText { for id in ids { $0.add(id, true) } }) }
    }

    /// How many albums each filter shows, without those that cannot be told.
    private func counts() async -> Response {
        var counts: [(name: String, count: Int)] = []
        for filter in AlbumFilter.allCases {
            if let ids = try? await filter.albums(of: model) { counts.append((filter.rawValue, ids.count)) }
        }
        return .json { for (name, count) in counts { $0.add(name, count) } }
    }

    private func candidates(of album: Album) async throws -> Response {
        let review = try review
        let candidates = try await review.candidates(of: album)
        let texts = await Self.concurrently(candidates.prefix(Self.maximumCandidates)) { await text(of: $0) }
        let tracks = review.trackCount(of: album)
        return .json {
            $0.add("candidates", raw: "[" + texts.joined(separator: ",") + "]")
            if let tracks { $0.add("tracks", tracks) }
        }
    }

    /// The most covers that a review shows of an album.
    static let maximumCandidates = 6

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
            if let tracks = candidate.tracks { $0.add("tracks", tracks) }
            let evidence = candidate.evidence.map { line in
                jsonText {
                    $0.add("text", line.text)
                    $0.add("agreement", line.agreement.rawValue)
                }
            }
            $0.add("evidence", raw: "[" + evidence.joined(separator: ",") + "]")
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
        /// The URLs of the candidates of which none is; nil: of all.
        var shown: [String]?
        /// The URLs of candidates whose refusal is taken back.
        var allow: [String]?

        enum CodingKeys: String, CodingKey { case picture, shown, allow }

        init(from decoder: any Decoder) throws {
            let body = try decoder.container(keyedBy: CodingKeys.self)
            shown = try body.decodeIfPresent([String].self, forKey: .shown)
            allow = try body.decodeIfPresent([String].self, forKey: .allow)
            // A body without any is a mistake, and refuses no candidates.
            if allow == nil { picture = try body.decode(String?.self, forKey: .picture) }
        }
    }

    private func decide(_ decision: Decision, _ album: Album) async throws -> Response {
        if let pictures = decision.allow {
            try await review.allow(pictures, of: album)
            return AlbumRoutes.response(nil, to: album.id, message: "The covers found for “\(album.title)” are back")
        }
        guard let picture = decision.picture else {
            let refused = try await review.refuse(decision.shown, of: album)
            return .json {
                $0.add("message", "Refused the covers found for “\(album.title)”")
                $0.add("refused", raw: jsonText { for picture in refused { $0.add(picture, true) } })
            }
        }
        guard try await review.candidates(of: album).contains(where: { $0.pictures.contains(picture) }) else {
            throw HTTPError(.conflict, message: "that cover is no longer proposed")
        }
        // The URL alone says that it was accepted, so the library's undo takes that back.
        let edit = try await model.library.albums.edit(album.id) { $0.coverURL = picture }
        // A fill replaces no file that is there. An album with songs that are known is in a music folder.
        let isInFolder = try review.trackCount(of: album) != nil
        let file =
            album.coverFile?.split(separator: "/").last.map { "; \($0) beside the music stays" }
            ?? (isInFolder ? "; the next fill writes it beside the music" : "")
        return AlbumRoutes.response(edit, message: "Accepted the cover of “\(album.title)”\(file)")
    }

    private func album(_ id: Album.ID) async throws -> Album {
        try await AlbumRoutes(model: model, base: .root).album(id)
    }
}

/// What an album's cover lacks.
enum AlbumFilter: String, CaseIterable {
    /// None is cached, whatever the reason.
    case uncovered
    /// None is cached: the address cannot be used, or the last request has failed.
    case failed
    /// The cached one has less than `smallest` pixels along its longer side.
    case small
    /// A source has a cover that may be another album's.
    case doubtful

    /// As the default of `sleeve audit --min`.
    private static let smallest = 500

    /// The albums to which it applies, in no order.
    /// - Throws: `LibraryError`, `CoverFailure`, or the error of `CoverReview`.
    func albums(of model: GalleryModel) async throws -> [Album.ID] {
        let albums = try await model.library.albums.current().albums
        if self == .doubtful { return try await model.review?.albums(among: albums) ?? [] }
        let covers = try await model.albums.covers(of: albums.map(\.id), readsFiles: self == .small)
        switch self {
        case .failed:
            let uncached = covers.filter { $0.cached == nil }
            let keys = uncached.flatMap(\.keys)
            let tried = await model.sessions.failed(among: keys)
            let histories = try await model.library.history(of: keys.map { CoverRequest(location: $0) })
            let absent = Set(zip(keys, histories).filter { $1.absence != nil }.map(\.0))
            return uncached.filter { cover in
                ![nil, .noAddress].contains(cover.problem)
                    || cover.keys.contains { tried.contains($0) || absent.contains($0) }
            }.map(\.album)
        case .small:
            var small: Set<String> = []
            for try await listing in model.library.listings() {
                guard let width = listing.width, let height = listing.height else { continue }
                if max(width, height) < Self.smallest { small.insert(listing.digest) }
            }
            for version in await model.albums.files.versions(of: albums).values {
                if let digest = version.digest, let side = version.longestSide, side < Self.smallest {
                    small.insert(digest)
                }
            }
            return covers.filter { $0.cached.map { small.contains($0.digest) } ?? false }.map(\.album)
        default: return covers.filter { $0.cached == nil && $0.written == nil }.map(\.album)
        }
    }
}
