import Foundation
import MusicFiles
import Platform

@testable import MusicFolder

/// A temporary folder, which is removed after the test.
final class Folder: Sendable {
    let path: BytePath

    init() throws {
        let name = FileManager.default.temporaryDirectory.path() + "sleeve-music-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: true)
        path = BytePath(name).resolved ?? BytePath(name)
    }

    deinit { try? FileManager.default.removeItem(atPath: path.description) }

    var text: String { path.description }

    /// Writes an audio file with tags, or another file with these bytes.
    @discardableResult
    func file(_ name: String, _ tags: MusicTags = MusicTags()) throws -> BytePath {
        try MusicFile.write("\(text)/\(name)", tags)
        return BytePath("\(text)/\(name)")
    }

    @discardableResult
    func file(_ name: String, bytes: [UInt8]) throws -> BytePath {
        let url = URL(filePath: "\(text)/\(name)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return BytePath(url.path())
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(text)/\(name)", withDestinationPath: target)
    }

    /// What a walk finds, with paths below the folder.
    func walk(followsOutside: Bool = false, _ roots: [String] = [""]) throws -> Walked {
        var walked = Walked()
        func name(_ path: BytePath) -> String { String(path.description.dropFirst(text.count + 1)) }
        var walk = FolderWalk(followsOutside: followsOutside) { event in
            switch event {
            case .folder(let listing):
                walked.folders.append(name(listing.path))
                walked.files += (listing.audio + listing.pictures).map { name(listing.path.appending($0.name)) }
                walked.listings.append(listing)
            case .problem(let problem): walked.problems[name(problem.path)] = problem.reason
            case .leftovers: break
            case .leftOut(let reason, let path): walked.leftOut[name(path)] = reason
            case .outside(let link): walked.outside.append(name(link))
            }
        }
        for root in roots { try walk.walk(root.isEmpty ? path : path.appending(Array(root.utf8))) }
        return walked
    }
}

struct Walked {
    var folders: [String] = []
    var files: [String] = []
    var listings: [FolderListing] = []
    var problems: [String: String] = [:]
    var outside: [String] = []
    var leftOut: [String: LeftOut.Reason] = [:]
}

extension MusicFile {
    /// The formats into which covers are written.
    static let written: [MusicFile] = [.mp3, .flac, .ogg, .opus, .m4a]
}
