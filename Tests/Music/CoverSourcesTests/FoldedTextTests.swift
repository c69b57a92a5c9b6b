import CoverSources
import Foundation
import Testing

@Suite struct FoldedTextTests {
    @Test(arguments: [
        ("The Beatles", "beatles"), ("Beatles, The", "The Beatles"), ("BEYONCÉ", "Beyonce\u{301}"),
        ("Beyoncé", "beyonce"),
        ("Simon & Garfunkel", "Simon and Garfunkel"), ("Florence + The Machine", "Florence and the Machine"),
        ("AC/DC", "ACDC"), ("AC/DC", "AC-DC"), ("R.E.M.", "REM"), ("Guns N' Roses", "Guns N’ Roses"),
        ("Guns N' Roses", "Guns and Roses"), ("P!nk", "Pink"), ("Ke$ha", "Kesha"), ("A$AP Rocky", "ASAP Rocky"),
        ("Mötley Crüe", "Motley Crue"), ("Sigur Rós", "Sigur Ros"), ("Björk", "BJÖRK"), ("Ørsted", "Orsted"),
        ("Æther", "Aether"),
        ("Straße", "STRASSE"), ("Ｐｅｒｆｕｍｅ", "Perfume"), ("ﾍﾟﾙﾌｭｰﾑ", "ペルフューム"), ("アルバム１", "アルバム1"), ("Ⅳ", "IV"),
        ("ÁЁж".lowercased(), "áеж"), ("İstanbul", "istanbul"), ("ΣΊΓΜΑΣ", "σιγμας"), ("x²", "x2"), ("Ⓐ", "A"),
        ("Æ\u{301}on", "Aeon"), ("( )", "()"),
        ("Volume 1", "Vol. 1"), ("Vol.1", "Vol 1"), ("Rock ’n’ Roll", "Rock and Roll"), ("Song feat. Someone", "Song"),
        ("Song (feat. Someone)", "Song [ft. Other]"), ("Nevermind (Deluxe Edition) [Remastered 2011]", "Nevermind"),
        ("Foo - EP", "Foo"), ("Foo - Single", "Foo"), ("Foo EP", "Foo"), ("Foo - 2011 Remaster", "Foo"),
        ("Foo [CD 2]", "Foo"),
        ("Foo (25th Anniversary Super Deluxe Edition)", "Foo"), ("「Foo」", "Foo"),
        ("Foo (feat. X) [Deluxe] - EP", "Foo"), ("…Baby One More Time", "...Baby One More Time"),
    ])
    func `spellings of one name have one key`(_ first: String, _ second: String) {
        #expect(FoldedText(first).key == FoldedText(second).key)
        #expect(!FoldedText(first).key.isEmpty)
    }

    @Test(arguments: [
        ("The The", "The"), ("!!!", "()"), ("!!!", "+"), ("÷", "×"), ("+", "and"), ("=", "÷"), ("か", "が"), ("ハ", "パ"),
        ("й", "и"),
        ("Weezer (Blue Album)", "Weezer (Green Album)"), ("Weezer", "Weezer (Blue Album)"),
        ("1989", "1989 (Taylor's Version)"),
        ("Foo (Live)", "Foo"), ("Foo - Live at the Forum", "Foo"), ("Greatest Hits Vol. 1", "Greatest Hits Vol. 2"),
        ("Deluxe", "Edition"), ("Foo (Remixes)", "Foo"), ("宇多田ヒカル", "椎名林檎"),
        ("Peter Gabriel (1977)", "Peter Gabriel (1978)"),
    ])
    func `different names have different keys`(_ first: String, _ second: String) {
        #expect(FoldedText(first).key != FoldedText(second).key)
    }

    @Test(arguments: [
        "!!!", "( )", "÷", "_", "__", "+", "☆", "[]", "(Deluxe)", "The", "And", "Feat. Me", "EP", "The EP", "...",
        "(((", "❤️",
    ])
    func `a name never folds to nothing`(_ name: String) {
        #expect(!FoldedText(name).key.isEmpty)
    }

    /// Of a suffix, the first is in a person's tags, the second what a service has.
    @Test(arguments: [
        ("Harbour [FLAC]", "Harbour"), ("Harbour [24-96]", "Harbour"), ("Harbour [16-44.1]", "Harbour"),
        ("Harbour [SHM-CD]", "Harbour"), ("Harbour (Vinyl Rip)", "Harbour"), ("Harbour [WEB]", "Harbour"),
        ("Harbour (2CD)", "Harbour"), ("Harbour (2 CD)", "Harbour"), ("Harbour [24bit FLAC]", "Harbour"),
        ("Harbour (Explicit Version)", "Harbour"), ("Harbour {320 kbps}", "Harbour"), ("Harbour (Japan)", "Harbour"),
        ("Harbour (UK Edition)", "Harbour"), ("Harbour (Legacy Edition)", "Harbour"), ("Harbour (Disc 2)", "Harbour"),
        ("Harbour [CD1]", "Harbour"), ("Harbour - Disc 1", "Harbour"), ("Harbour (Digital Media 01)", "Harbour"),
        ("Harbour OST", "Harbour"), ("Harbour (Original Motion Picture Soundtrack)", "Harbour"),
        ("Harbour: Music from the Motion Picture", "Harbour"), ("Harbour Original Television Soundtrack", "Harbour"),
        ("Harbour II", "Harbour 2"), ("Harbour II [FLAC]", "Harbour 2"), ("Harbour, Vol. IV", "Harbour Volume 4"),
        ("Harbour Part Two", "Harbour, Pt. 2"), ("Harbour Vol. X", "Harbour Vol 10"),
        ("Harbour No. 5", "Harbour Nr. 5"),
        ("Number One", "No. 1"), ("Folge 012: Wecker", "Folge 12: Wecker"), ("Tapes 007", "Tapes 7"),
        ("Sturm und Drang", "Sturm & Drang"), ("Soeur et Frère", "Soeur + Frere"), ("1,000 Forms", "1000 Forms"),
        ("Harbour [EAC-LOG-CUE]", "Harbour"), ("Harbour [MP3 @320]", "Harbour"), ("Harbour @320kbps", "Harbour"),
        ("Harbour_Lights", "Harbour Lights"), ("Harbour_-_EP", "Harbour"), ("Harbour_[FLAC]", "Harbour"),
        ("Harbour - E.P.", "Harbour"), ("Harbour (Bonus Track Version)", "Harbour"), ("Harbour [5.1 DVD]", "Harbour"),
    ])
    func `what says nothing about the album folds`(_ first: String, _ second: String) {
        #expect(FoldedText(first).key == FoldedText(second).key)
    }

    @Test(arguments: [
        ("Harbour (Live)", "Harbour"), ("Harbour (Taylor's Version)", "Harbour"), ("Harbour (Score)", "Harbour"),
        ("Harbour (Original Motion Picture Score)", "Harbour"), ("Tron: Legacy", "Tron"), ("Live - Japan", "Live"),
        ("Live @ Home", "Live"),
        ("Harbour (Original Mix)", "Harbour"), ("Harbour (2011)", "Harbour"), ("Harbour 1 2", "Harbour 12"),
        ("Ten", "10"), ("X", "10"), ("IV", "4"), ("Harbour X", "Harbour 10"), ("No One", "No. 1"), ("Mix", "9"),
        ("Harbour (Flac Attack)", "Harbour"), ("Harbour (Blue Vinyl Nights)", "Harbour"), ("3/4", "34"),
        ("Deluxe", "Edition"), ("The Original Soundtrack", "The"), ("Harbour (01.02.2003)", "Harbour"),
    ])
    func `a bracket with a word of another kind is a part of the name`(_ first: String, _ second: String) {
        #expect(FoldedText(first).key != FoldedText(second).key)
    }

    @Test func `the tags' own year is no part of the name`() {
        for title in ["Harbour (1994)", "Harbour [1994]", "1994 - Harbour", "Harbour, 1994", "Harbour,_1994"] {
            #expect(FoldedText(title, year: 1994).key == "harbour")
            #expect(FoldedText(title, year: 1995).key != "harbour")
        }
        #expect(FoldedText("1994", year: 1994).key == "1994")
        #expect(FoldedText("1994-05-10 - Harbour", year: 1994).key != "harbour")
        #expect(FoldedText("1994 - Harbour", year: 1994).searchText == "Harbour")
        #expect(FoldedText("Harbour, 1994", year: 1994).searchText == "Harbour")
    }

    @Test(arguments: [
        ("Blink-182", "Blink 182"), ("The Beatles", "Beatles, The"), ("Earth, Wind & Fire", "Earth Wind and Fire"),
        ("10,000 Maniacs", "10000 Maniacs"), ("P!nk", "PINK"), ("Low Tide (2)", "Low Tide"), ("Low Tide*", "Low Tide"),
        ("Low Tide (3) & Ada Moor* (12)", "Low Tide & Ada Moor"), ("Low Tide (2), Ada Moor", "Low Tide, Ada Moor"),
    ])
    func `an artist folds by case, accents and punctuation`(_ first: String, _ second: String) {
        #expect(FoldedText(artist: first).key == FoldedText(artist: second).key)
    }

    @Test(arguments: [
        ("Boyz II Men", "Boyz 2 Men"), ("Prince (UK)", "Prince"), ("A feat. B", "A"), ("Mono", "Stereo"), ("007", "7"),
        ("Low Tide (1)", "Low Tide"), ("Low Tide (182)", "Low Tide"), ("(2)", ""),
    ])
    func `an artist folds by nothing else`(_ first: String, _ second: String) {
        #expect(FoldedText(artist: first).key != FoldedText(artist: second).key)
    }

    @Test(arguments: [
        ("The Harbour Lights", "Harbour Lights"), ("the  harbour", "harbour"), ("THE\u{a0}The", "The"),
        ("\u{ff34}\u{ff28}\u{ff25} X", "X"), ("Die Ärzte", "Ärzte"), ("Los Lobos", "Lobos"),
        ("L’Impératrice", "Impératrice"), ("l'Or", "Or"), ("The 1975", "1975"), ("Les Ogres", "Ogres"),
    ])
    func `a name is ordered without its article`(_ name: String, _ key: String) {
        #expect(FoldedText.withoutArticle(name) == key)
    }

    @Test(arguments: [
        "", "The", "The ", "The ?", "Theory", "L7", "Lambchop", "It's", "A Day", "Harbour Lights, The", "L’", "’The X",
    ])
    func `a name without an article, or with nothing else, is ordered as it is`(_ name: String) {
        #expect(FoldedText.withoutArticle(name) == nil)
    }

    @Test func `letters and their decomposed forms are equal`() {
        // Greek upsilon with hook, long s with dot: symbols that no name has.
        let exceptions: Set<UInt32> = [0x3D3, 0x3D4, 0x1E9B]
        for scalar in (0xC0...0x30FF).compactMap({ Unicode.Scalar($0 as UInt32) })
        where scalar.properties.isAlphabetic && !exceptions.contains(scalar.value) {
            let text = "x\(scalar)y"
            let decomposed = FoldedText(text.decomposedStringWithCanonicalMapping).key
            #expect(FoldedText(text).key == decomposed, "U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test func `an edition is told apart from the name`() {
        #expect(FoldedText("Nevermind (Deluxe Edition)").editions == ["deluxe"])
        #expect(FoldedText("Nevermind - 2011 Remaster").editions == FoldedText("Nevermind [Remastered 2011]").editions)
        #expect(FoldedText("Nevermind - EP").kinds == ["ep"] && FoldedText("Drive OST").kinds == ["soundtrack"])
        #expect(FoldedText("Box (Deluxe Edition Disc 02)").disc == "2")
        #expect(FoldedText("Nevermind").editions.isEmpty)
    }

    @Test(arguments: [
        "Various Artists", "VA", "V.A.", "Various", "Sampler", "Diverse Künstler", "Artistes variés", "群星",
    ])
    func `collective artists are one`(_ name: String) { #expect(FoldedText(name).isVarious) }

    @Test(arguments: [
        ("Nevermind (Deluxe Edition)", "Nevermind"), ("Foo - EP", "Foo"), ("Foo (Live)", "Foo (Live)"),
        ("A feat. B", "A"), ("A (feat. B)", "A"),
        (" ( ) ", "( )"), ("Harbour_Lights", "Harbour Lights"),
        ("(What's the Story) Morning Glory? [Remastered]", "(What's the Story) Morning Glory?"),
    ])
    func `a search has the name without its edition, as it is written`(_ name: String, _ search: String) {
        #expect(FoldedText(name).searchText == search)
    }
}
