extension Album {
    /// Reads a JSON object. Returns nil if the text is malformed or a field has a wrong type.
    public init?(json: String) {
        let parser = JSONCursor.read(json) { (cursor) throws(JSONCursor.SyntaxError) in
            var parser = AlbumParser(ListOptions(keepsOtherFields: true, isLibraryFile: true))
            try parser.read(&cursor)
            return parser
        }
        guard let parser, parser.mismatch == nil else { return nil }
        self = parser.album
        coverURL = coverURL?.trimmingWhitespace()
    }
}
