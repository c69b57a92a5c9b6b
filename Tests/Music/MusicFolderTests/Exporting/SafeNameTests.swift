import Testing

@testable import MusicFolder

@Suite struct SafeNameTests {
    private func name(_ text: String) -> String { SafeName.name(SafeName.cleaned(text)) }

    @Test(arguments: [
        ("AC/DC", "AC_DC"), ("a\\b:c*d?e\"f<g>h|i", "a_b_c_d_e_f_g_h_i"), ("../..", "_._"), ("..", "_"), (".", "_"),
        ("", "_"), ("   ", "_"), (".hidden", "_hidden"), ("...And Justice", "_..And Justice"),
        ("R.E.M.", "R.E.M"), ("dots... ", "dots"), ("  blanks  ", "blanks"), ("a\nb\tc", "a b c"),
        ("a\u{0}b\u{1B}[m", "ab[m"),
        ("a\u{202E}gpj.b", "agpj.b"), ("~", "~"), ("日本語", "日本語"), ("Sigur Rós", "Sigur Rós"),
    ])
    func `a name is safe on Linux, macOS and Windows`(text: String, expected: String) {
        #expect(name(text) == expected)
    }

    @Test(arguments: [
        ("CON", "CON_"), ("nul", "nul_"), ("Aux.txt", "Aux_.txt"), ("com1", "com1_"), ("LPT9.a.b", "LPT9_.a.b"),
        ("COM\u{B9}", "COM\u{B9}_"), ("CONIN$", "CONIN$_"), ("con .x", "con _.x"), ("CONSOLE", "CONSOLE"),
        ("COM", "COM"),
        ("COM10", "COM10"), ("a.con", "a.con"),
    ])
    func `no name is one of a Windows device`(text: String, expected: String) {
        #expect(name(text) == expected)
    }

    @Test func `the extension does not make a device's name harmless`() {
        #expect(SafeName.name("NUL", suffix: ".jpg") == "NUL_.jpg")
    }

    @Test(arguments: ["x", "ü", "日", "👩‍👩‍👧‍👦", "e\u{301}"])
    func `a long name is cut off at a character, and keeps its suffix`(character: String) {
        let text = SafeName.name(String(repeating: character, count: 300), suffix: " (2).jpg")
        #expect(text.utf8.count <= 255 && text.utf8.count > 200)
        #expect(text.hasSuffix(" (2).jpg"))
        #expect(text.dropLast(8).allSatisfy { String($0) == character })
    }

    @Test func `names that some file system takes for one fold alike`() {
        #expect(SafeName.folded("Beyonc\u{E9}") == SafeName.folded("BEYONCE\u{301}"))
        #expect(SafeName.folded("Straße") == SafeName.folded("STRASSE"))
        #expect(SafeName.folded("a") != SafeName.folded("b"))
    }
}
