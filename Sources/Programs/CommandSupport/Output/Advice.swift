/// The options and commands that do what a message of the library advises. The library names none, as other programs have others.
enum Advice {
    private static let table = [
        ("choose another directory", "--cache"), ("choose a new or an empty directory", "--cache"),
        ("raise the capacity", "--capacity"),
        ("raise the maximum size", "--max-size"),
        ("is not trusted", "--cacert FILE trusts other authorities"),
        ("redirected from https to http", "--allow-downgrade follows it"),
        ("repair the cache", "`sleeve cache verify --repair`"), ("evict all covers", "`sleeve cache evict --to 0`"),
    ]

    /// The message with each of them behind what it does.
    static func naming(_ message: String) -> String {
        table.reduce(message) { text, entry in
            guard let range = text.firstRange(of: entry.0) else { return text }
            var text = text
            text.insert(contentsOf: " (\(entry.1))", at: range.upperBound)
            return text
        }
    }
}
