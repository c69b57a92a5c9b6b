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
        "!!!", "( )", "÷", "+", "☆", "[]", "(Deluxe)", "The", "And", "Feat. Me", "EP", "The EP", "...", "(((", "❤️",
    ])
    func `a name never folds to nothing`(_ name: String) {
        #expect(!FoldedText(name).key.isEmpty)
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
        #expect(FoldedText("Nevermind (Deluxe Edition)").editions == ["deluxeedition"])
        #expect(FoldedText("Nevermind - EP").editions == ["ep"])
        #expect(FoldedText("Nevermind").editions.isEmpty)
    }

    @Test(arguments: [
        "Various Artists", "VA", "V.A.", "Various", "Sampler", "Diverse Künstler", "Artistes variés", "群星",
    ])
    func `collective artists are one`(_ name: String) { #expect(FoldedText(name).isVarious) }

    @Test(arguments: [
        ("Nevermind (Deluxe Edition)", "Nevermind"), ("Foo - EP", "Foo"), ("Foo (Live)", "Foo (Live)"),
        ("A feat. B", "A"), ("A (feat. B)", "A"),
        (" ( ) ", "( )"), ("(What's the Story) Morning Glory? [Remastered]", "(What's the Story) Morning Glory?"),
    ])
    func `a search has the name without its edition, as it is written`(_ name: String, _ search: String) {
        #expect(FoldedText(name).searchText == search)
    }
}
