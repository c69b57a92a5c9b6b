import CoverSources
import Foundation
import MusicFiles
import SleeveStage
import Testing

/// What a fill prints.
struct FillCounts: Decodable {
    var albums, covered, filled, files, missing, doubtful, failed, unwritten, problems: Int
}

/// Music folders, the imitated services, and the command.
protocol FillSuite {}

extension FillSuite {
    /// The albums that the services have. `Nowhere` is not among them.
    static var provided: [ServiceAlbum] {
        [
            ServiceAlbum(artist: "The Harbour Lights", title: "Low Tide", year: 1971, tracks: 2, services: [.itunes]),
            ServiceAlbum(
                artist: "Guns N' Roses", title: "The Spaghetti Incident?", year: 1993, tracks: 2, services: [.deezer],
                isSecond: true),
            ServiceAlbum(artist: "Someone", title: "Reissued", year: 2020, tracks: 44, services: [.deezer]),
            ServiceAlbum(
                artist: "Id", title: "With an Id", year: 1999, tracks: 2, services: [.caa, .musicbrainz],
                release: release),
        ]
    }
    static var release: String { "b5929ea3-1f60-42c9-9082-f9c518cda7a1" }
    static var albums: [(String, String, String, String)] {
        [
            ("The Harbour Lights", "Low Tide", "1971", ""), ("Guns N' Roses", "The Spaghetti Incident?", "1993", ""),
            ("Someone", "Reissued", "2001", ""), ("Id", "With an Id", "1999", release), ("None", "Nowhere", "2001", ""),
        ]
    }

    func withMusic(
        albums: [(String, String, String, String)] = Self.albums, provided: [ServiceAlbum] = Self.provided,
        willSend: @escaping @Sendable (_ album: Int, _ music: String) -> Void = { _, _ in },
        _ body: (_ stage: Stage, _ arguments: [String]) async throws -> Void
    ) async throws {
        try await withStage { stage in
            for (artist, title, date, release) in albums {
                try MusicFile.writeSongs(
                    2, in: "\(stage.folder)/music/\(artist)/\(title)",
                    MusicTags(album: title, albumArtist: artist, artist: artist, date: date, releaseID: release))
            }
            let music = stage.folder + "/music"
            let manners = try await withServices(provided, willSend: { willSend($0, music) }) { services in
                // MusicBrainz would take a second for each album; SourceQueueTests have its rate.
                let sources =
                    ["--source", "caa,itunes,deezer", "--contact", "tests@example.org"]
                    + services.options([.caa, .musicbrainz, .itunes, .deezer])
                try await body(stage, ["fill", stage.folder + "/music", "--json"] + sources)
            }
            #expect(manners.violations.isEmpty)
        }
    }

    func run(_ stage: Stage, _ arguments: [String]) async throws -> (FillCounts, RunResult) {
        let result = try await SleeveStage.run(arguments, environment: stage.environment)
        return (try JSONDecoder().decode(FillCounts.self, from: Data(result.stdout.utf8)), result)
    }

    /// The files that are no audio, by their paths in the folder.
    func pictures(_ stage: Stage) -> [String: [UInt8]] {
        let music = stage.folder + "/music"
        let names = FileManager.default.enumerator(atPath: music)?.compactMap { $0 as? String } ?? []
        return names.reduce(into: [:]) { files, name in
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(music)/\(name)", isDirectory: &isFolder),
                !isFolder.boolValue, !name.hasSuffix(".mp3")
            else { return }
            files[name] = (try? Data(contentsOf: URL(filePath: "\(music)/\(name)"))).map { Array($0) }
        }
    }
}
