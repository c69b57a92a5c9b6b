/// A location in a list, such as `albums.json:12:7`.
package struct ListLocation: Sendable, Hashable, CustomStringConvertible {
    /// The path as the caller gave it; `stdin` for `-`.
    package var file: String
    /// Counted from 1; 0 for the whole file.
    package var line: Int
    /// In bytes, counted from 1, as compilers do; nil for the whole line.
    package var column: Int?

    package init(file: String, line: Int = 0, column: Int? = nil) {
        self.file = file
        self.line = line
        self.column = column
    }

    package var description: String {
        guard line > 0 else { return file }
        guard let column else { return "\(file):\(line)" }
        return "\(file):\(line):\(column)"
    }

    /// The location `offset` bytes after this one, which is that of the first of `bytes`. - Parameter offset: at most their count.
    func advanced(by offset: Int, in bytes: UnsafeRawBufferPointer) -> ListLocation {
        var location = self
        var lineStart = 0
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<offset])
        while let end = bytes.firstOffset(of: Byte.newline, from: lineStart) {
            (location.line, location.column, lineStart) = (location.line + 1, 1, end + 1)
        }
        location.column = (location.column ?? 1) + offset - lineStart
        return location
    }
}

/// Why an element, or the rest of a list, could not be read.
package struct ListProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package var location: ListLocation
    /// One line, without the location.
    package var message: String
    /// The cover URL of the element, if it could be read.
    package var url: String?
    /// The album of the element, if only its cover location is missing or invalid.
    package var album: Album?

    package init(_ location: ListLocation, _ message: String, url: String? = nil, album: Album? = nil) {
        self.location = location
        self.message = message
        self.url = url
        self.album = album
    }

    package var description: String { "\(location): \(message)" }
}

/// One cover of a list.
package struct ListItem: Sendable, Hashable {
    /// As written, without whitespace and invisible characters around it, not validated; `""` if the album locates its cover in another way.
    package var url: String
    /// Nil in lists of bare URLs.
    package var album: Album?
    /// The line on which the element begins, from 1.
    package var line: Int
    /// A character other than ASCII whitespace that stood around the URL, and is left out.
    package let leftOut: Unicode.Scalar?

    package init(url: String, album: Album? = nil, line: Int) {
        self.url = url.trimmingWhitespace()
        leftOut =
            self.url.utf8.count == url.utf8.count
            ? nil
            : url.unicodeScalars.prefix(while: \.isInvisible).first { !$0.isASCII }
                ?? url.unicodeScalars.reversed().prefix(while: \.isInvisible).first { !$0.isASCII }
        self.album = album
        self.line = line
    }
}

/// An element of a list.
package enum ListElement: Sendable, Hashable {
    case item(ListItem)
    /// This element is skipped; the following ones are read.
    case problem(ListProblem)

    /// An album of a list: an item if it locates its cover, else a problem. No list but the library file names a file of this computer.
    static func album(_ album: Album, _ location: ListLocation, _ options: ListOptions) -> ListElement {
        let album = options.isLibraryFile ? album : album.withoutCoverFile
        var item = ListItem(url: album.coverURL ?? "", album: album, line: location.line)
        if !item.url.isEmpty {
            item.album?.coverURL = item.url
            return .item(item)
        }
        let reason: String
        do throws(AlbumProblem) {
            if try album.hasCoverLocation() { return .item(item) }
            reason = " has no cover URL"
        } catch {
            reason = ": \(error)"
        }
        return .problem(ListProblem(location, "album '\(album.title.inMessage)'\(reason); skipped", album: album))
    }
}
