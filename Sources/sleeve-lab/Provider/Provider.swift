import CoverLibrary
import HTTPTypes
import OriginServer
import Platform
import Synchronization

/// Imitates the services that have covers, as they document themselves: the Cover Art Archive, MusicBrainz, iTunes and Deezer, each below a
/// path of its name. It watches the manners of its clients; `/report` has them.
final class Provider: Sendable {
    enum Service: String, CaseIterable, Sendable { case caa, musicbrainz, itunes, deezer }

    private let albums: [ProviderAlbum]
    private let manners: Mutex<ProviderManners>
    private let start = ContinuousClock.now
    /// Searches take some time, so that those of a client that sends several at a time overlap.
    private let delay: Duration

    init(_ albums: [ProviderAlbum], manners: ProviderManners, delay: Duration) {
        self.albums = albums
        self.manners = Mutex(manners)
        self.delay = delay
    }

    var report: String { manners.withLock { $0.json } }
    /// Whether no limit was violated.
    var isMannerly: Bool { manners.withLock { $0.violations.isEmpty } }

    var service: OriginService {
        OriginService(respond: { self.answer($0) }, didEnd: { self.end($0) })
    }

    private static func parts(of request: HTTPRequest) -> (service: Service?, path: [Substring], query: Substring) {
        let target = (request.path ?? "/").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = target[0].split(separator: "/")
        return (
            path.first.flatMap { Service(rawValue: String($0)) }, Array(path.dropFirst()),
            target.dropFirst().first ?? ""
        )
    }

    private static func isSearch(_ path: [Substring]) -> Bool {
        [["ws", "2", "release"], ["search"], ["search", "album"]].contains(path)
    }

    private func end(_ request: HTTPRequest) {
        let (service, path, _) = Self.parts(of: request)
        if let service, Self.isSearch(path) { manners.withLock { $0.endSearch(service) } }
    }

    private func answer(_ request: HTTPRequest) -> OriginService.Answer {
        let (service, path, query) = Self.parts(of: request)
        if request.path == "/report" { return .json(report) }
        guard let service else { return .text(404, "no service of this name\n") }
        let base = "http://\(request.authority ?? "127.0.0.1")"
        if path.first == "pictures" { return picture(service, Array(path.dropFirst())) }
        if service == .caa { return archive(path, base) }
        guard Self.isSearch(path) else { return .text(404, "nothing here\n") }
        let agent = request.headerFields[.userAgent] ?? ""
        let time = start.duration(to: .now) / .seconds(1)
        let isThrottled = manners.withLock { $0.search(service, userAgent: agent, at: time) }
        var answer = isThrottled ? Self.throttle(service) : search(service, ProviderQuery(query), base)
        answer.delay = delay
        return answer
    }

    /// How each service says that it gets too many requests.
    private static func throttle(_ service: Service) -> OriginService.Answer {
        switch service {
        case .musicbrainz, .caa:
            .json(#"{"error": "Your requests are exceeding the allowable rate limit."}"#, status: 503)
        case .itunes: .text(403, "")
        case .deezer: .json(#"{"error": {"type": "Exception", "message": "Quota limit exceeded", "code": 4}}"#)
        }
    }

    // MARK: Pictures

    private func picture(_ service: Service, _ path: [Substring]) -> OriginService.Answer {
        guard var picture = ProviderPicture(service, path: path), albums.indices.contains(picture.number) else {
            return .text(404, "no such picture\n")
        }
        let album = albums[picture.number]
        if service == .itunes, let side = picture.side, side > album.largest ?? 1_200 {
            return .text(404, "no such size\n")
        }
        manners.withLock { $0.picture(service, isWrong: picture.kind == .wrong) }
        if service == .caa, picture.side == nil, album.has(.pdf) {
            return OriginService.Answer(200, [.contentType: "application/pdf"], body: Array("%PDF-1.4\n%%EOF\n".utf8))
        }
        if album.has(.same) { picture.number = albums.count }
        let body = album.has(.plain) ? ProviderPicture.plain : picture.bytes
        return OriginService.Answer(200, [.contentType: "image/jpeg", .cacheControl: "max-age=86400"], body: body)
    }

    /// `/release/ID/front-1200`: 307 to the picture, 400 for what is no id, 404 without a cover.
    private func archive(_ path: [Substring], _ base: String) -> OriginService.Answer {
        guard path.count == 3, ["release", "release-group"].contains(path[0]), path[2].hasPrefix("front") else {
            return .text(404, "nothing here\n")
        }
        let id = String(path[1])
        guard id.count == 36, id == id.lowercased() else { return .text(400, "no UUID\n") }
        let isGroup = path[0] == "release-group"
        let index = albums.firstIndex { album in
            album.isOn(.caa) && (isGroup ? album.groupID == id : album.releaseID == id && !album.has(.groupOnly))
        }
        let side = path[2] == "front" ? nil : Int(path[2].dropFirst("front-".count))
        guard let index, side == nil || !albums[index].has(.noThumbnails) else {
            manners.withLock { $0.picture(.caa, isWrong: false) }
            return .text(404, "No cover art found\n")
        }
        let target = ProviderPicture(.caa, .cover, index, side: side).path(".jpg")
        return OriginService.Answer(307, [.location: base + target])
    }

    // MARK: Searches

    private func search(_ service: Service, _ query: ProviderQuery, _ base: String) -> OriginService.Answer {
        let found = albums.indices.filter { albums[$0].isOn(service) && query.matches(albums[$0], service) }
        let results = found.prefix(25).flatMap { index -> [String] in
            let right = Self.result(service, albums[index], ProviderPicture(service, .cover, index), base)
            guard albums[index].has(.wrongFirst) else { return [right] }
            var other = albums[index]
            (other.title, other.release, other.group) = ("A Tribute to \(other.title)", nil, nil)
            return [Self.result(service, other, ProviderPicture(service, .wrong, index), base), right]
        }
        let list = "[\(results.joined(separator: ", "))]"
        return switch service {
        case .musicbrainz, .caa: .json(#"{"count": \#(results.count), "offset": 0, "releases": \#(list)}"#)
        case .itunes: .json(#"{"resultCount": \#(results.count), "results": \#(list)}"#)
        case .deezer: .json(#"{"data": \#(list), "total": \#(results.count)}"#)
        }
    }

    private static func result(
        _ service: Service, _ album: ProviderAlbum, _ picture: ProviderPicture, _ base: String
    ) -> String {
        var (line, picture) = (JSONObject(), picture)
        func url(_ side: Int, _ suffix: String) -> String {
            picture.side = side
            return base + picture.path(suffix)
        }
        switch service {
        case .musicbrainz, .caa:
            line.add("id", album.releaseID)
            line.add("score", 100)
            line.add("title", album.title)
            line.add("artist-credit", raw: #"[{"name": \#(album.artist.json)}]"#)
            if let year = album.year { line.add("date", "\(year)-05-10") }
            line.add("track-count", album.tracks)
            line.add("release-group", raw: #"{"id": "\#(album.groupID)"}"#)
        case .itunes:
            line.add("wrapperType", "collection")
            line.add("artistName", album.artist)
            line.add("collectionName", album.title)
            line.add("trackCount", album.tracks)
            if let year = album.year { line.add("releaseDate", "\(year)-05-10T07:00:00Z") }
            line.add("artworkUrl100", url(100, "bb.jpg"))
        case .deezer:
            line.add("title", album.title)
            line.add("artist", raw: #"{"name": \#(album.artist.json)}"#)
            line.add("nb_tracks", album.tracks)
            for (name, side) in [("cover_medium", 250), ("cover_big", 500), ("cover_xl", 1_000)] {
                let placeholder = "\(base)/deezer/images/cover//\(side)x\(side)-000000-80-0-0.jpg"
                line.add(name, album.has(.placeholder) ? placeholder : url(side, "-000000-80-0-0.jpg"))
            }
        }
        return line.text
    }
}

extension OriginService.Answer {
    fileprivate static func json(_ text: String, status: Int = 200) -> OriginService.Answer {
        OriginService.Answer(status, [.contentType: "application/json"], body: Array(text.utf8))
    }

    fileprivate static func text(_ status: Int, _ text: String) -> OriginService.Answer {
        OriginService.Answer(status, [.contentType: "text/plain"], body: Array(text.utf8))
    }
}
