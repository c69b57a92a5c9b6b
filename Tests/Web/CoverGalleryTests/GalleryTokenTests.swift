import Foundation
import Testing

@testable import CoverGallery

@Suite struct GalleryTokenTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/albums.json.state")
    }

    private func write(_ text: String, mode: Int, to path: String) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
        #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes))
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
    }

    @Test func `a token has 128 random bits, and is kept in a file that its owner alone may read`() throws {
        try withFolder { folder in
            let token = try GalleryToken.kept(in: folder)
            #expect(token.wholeMatch(of: /[0-9a-f]{32}/) != nil && token != GalleryToken.random())
            #expect(try GalleryToken.kept(in: folder) == token)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/token")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `a file that others may read, a link, and what is no token are replaced`() throws {
        try withFolder { folder in
            let path = folder + "/token"
            let first = try GalleryToken.kept(in: folder)
            let known = "0123456789abcdef0123456789abcdef"
            for (text, mode) in [(first, 0o644), (first, 0o620), ("", 0o600), ("short", 0o600), ("\(known) x", 0o600)] {
                try FileManager.default.removeItem(atPath: path)
                try write(text, mode: mode, to: path)
                let token = try GalleryToken.kept(in: folder)
                #expect(token != text && token != first, "\(text) \(mode)")
                #expect(try GalleryToken.kept(in: folder) == token)
            }
            try write(known, mode: 0o600, to: folder + "/planted")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder + "/planted")
            #expect(try GalleryToken.kept(in: folder) != known)
            #expect(try String(contentsOfFile: folder + "/planted", encoding: .utf8) == known)
        }
    }

    @Test(arguments: [
        ("0123456789abcdef", true), ("AZaz09-_AZaz09-_", true), ("0123456789abcde", false), ("", false),
        ("0123456789abcde/", false), ("0123456789 abcdef", false), ("0123456789abcdeé", false),
    ]) func `a token has at least 16 characters that need no escape`(text: String, isValid: Bool) {
        #expect(GalleryToken.isValid(text) == isValid)
    }
}
