import CoverLibrary
import Platform

/// The escape sequences that make a terminal draw an image file.
enum InlineImage {
    enum Terminal {
        /// iTerm2's inline images protocol; any image format.
        case iterm
        /// kitty's terminal graphics protocol; files must be PNG.
        case kitty
    }

    /// The height of a cover in rows of text.
    private static let rows = 16

    /// The sequence that draws `cover` on stdout; nil if stdout is not a terminal that can draw it.
    static func sequence(_ cover: Cover) -> String? {
        guard sleeve.Terminal.standardOutput.isInteractive else { return nil }
        return terminal(Environment.value).flatMap { text(cover, on: $0) }
    }

    /// Detects the terminal. - Parameter variable: Reads an environment variable.
    static func terminal(_ variable: (String) -> String?) -> Terminal? {
        // tmux and screen do not forward the sequences.
        if variable("TMUX") != nil || variable("STY") != nil { return nil }
        if variable("KITTY_WINDOW_ID") != nil || variable("TERM") == "xterm-kitty" { return .kitty }
        switch variable("TERM_PROGRAM") ?? "" {
        case "iTerm.app", "WezTerm", "mintty", "rio", "vscode": return .iterm
        case "ghostty": return .kitty
        default: return variable("LC_TERMINAL") == "iTerm2" || variable("KONSOLE_VERSION") != nil ? .iterm : nil
        }
    }

    static func text(_ cover: Cover, on terminal: Terminal) -> String? {
        // Neither protocol supports SVG.
        if cover.mediaType == "image/svg+xml" { return nil }
        let encoded = cover.data.base64EncodedString()
        switch terminal {
        case .iterm:
            return "\u{1B}]1337;File=inline=1;size=\(cover.data.count);height=\(rows):\(encoded)\u{07}\n"
        case .kitty:
            guard cover.mediaType == "image/png" else { return nil }
            return kitty(encoded)
        }
    }

    /// Splits the file into sequences of at most 4,096 characters; all but the last have m=1.
    private static func kitty(_ encoded: String) -> String {
        var (text, rest, isFirst) = ("", Substring(encoded), true)
        while !rest.isEmpty {
            let chunk = rest.prefix(4_096)
            rest = rest.dropFirst(4_096)
            let control = (isFirst ? "a=T,f=100,r=\(rows)," : "") + "m=\(rest.isEmpty ? 0 : 1)"
            text += "\u{1B}_G\(control);\(chunk)\u{1B}\\"
            isFirst = false
        }
        return text + "\n"
    }
}
