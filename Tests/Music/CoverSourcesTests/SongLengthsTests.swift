import Testing

@testable import CoverSources

@Suite struct SongLengthsTests {
    private let songs = [200_000, 184_000, 251_000, 223_000, 305_000, 190_000, 240_000, 262_000, 211_000, 178_000]

    @Test func `nine of ten songs agree, in order, within three seconds`() {
        #expect(SongLengths.agree(songs, songs.map { $0 + 3_000 }, allowsMissing: false) == true)
        #expect(SongLengths.agree(songs, songs.map { $0 + 9_000 }, allowsMissing: false) == false)
        #expect(SongLengths.agree(songs, songs.reversed(), allowsMissing: false) == false)
        var one = songs
        one[4] = 1_000
        #expect(SongLengths.agree(songs, one, allowsMissing: false) == true)
        one[7] = 1_000
        #expect(SongLengths.agree(songs, one, allowsMissing: false) == false)
    }

    @Test func `songs may be missing where that is allowed, and of few none may differ`() {
        let some = [songs[1], songs[5], songs[8]]
        #expect(SongLengths.agree(songs, some, allowsMissing: true) == true)
        #expect(SongLengths.agree(songs, some, allowsMissing: false) == false)
        #expect(SongLengths.agree(songs, some + [1_000], allowsMissing: true) == false)
    }

    @Test func `lengths that are missing or all equal are unknown`() {
        for unknown in [[], [0, 0], [627, 627, 627]] {
            #expect(SongLengths.agree(songs, unknown, allowsMissing: true) == nil)
        }
        #expect(SongLengths.agree([0, 200_000], [200_500], allowsMissing: true) == true)
    }
}
