import AlbumLibrary
import Testing

@testable import CoverLibrary

@Suite struct AlbumValidationTests {
    @Test func `an edit is refused for the fields it changes, not for what was wrong before`() throws {
        var former = Album(title: "A", year: "about 1999")
        former.alternateCoverURLs = ["ftp://a"]
        var album = former
        album.title = " New "
        #expect(try album.validated(editing: former).title == "New")
        album.year = "19"
        do {
            _ = try album.validated(editing: former)
            Issue.record("the new year is none either")
        } catch {
            #expect(error.field == "year")
        }
        album.year = former.year
        album.alternateCoverURLs = ["ftp://b"]
        #expect(throws: AlbumProblem.self) { try album.validated(editing: former) }
    }
}
