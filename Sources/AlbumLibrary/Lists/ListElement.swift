/// A location in a list: `albums.json:12:7`.
package struct ListPlace: Sendable, Hashable, CustomStringConvertible {
    /// The path as the caller gave it; `stdin` for `-`.
    package var file: String
    /// Counted from 1; 0 means the file as a whole.
    package var line: Int
    /// In bytes, counted from 1, as compilers do it; `nil` means the line as a whole.
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
}

/// Why an element, or the rest of a list, could not be read.
package struct ListProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package var place: ListPlace
    /// One line, without the place.
    package var message: String
    /// The cover URL of the element, if it could be read.
    package var url: String?
    /// The album of the element, if only its cover location is missing or invalid.
    package var album: Album?

    package init(place: ListPlace, message: String, url: String? = nil, album: Album? = nil) {
        self.place = place
        self.message = message
        self.url = url
        self.album = album
    }

    package var description: String { "\(place): \(message)" }
}

/// One cover of a list.
package struct ListItem: Sendable, Hashable {
    /// As written, without surrounding blanks, not validated; `""` if the album locates its cover in another way.
    package var url: String
    /// `nil` in lists of bare URLs.
    package var album: Album?
    /// The line on which its element begins, from 1.
    package var line: Int

    package init(url: String, album: Album? = nil, line: Int) {
        self.url = url
        self.album = album
        self.line = line
    }
}

/// An element of a list.
package enum ListElement: Sendable, Hashable {
    case item(ListItem)
    /// This element is skipped; those after it are still read.
    case problem(ListProblem)

    /// An album of a list: an item if it locates its cover, else a problem.
    static func album(_ album: Album, _ place: ListPlace) -> ListElement {
        let url = album.coverUrl?.trimmingBlanks() ?? ""
        if !url.isEmpty { return .item(ListItem(url: url, album: album, line: place.line)) }
        do throws(AlbumProblem) {
            guard try album.hasCoverPlace() else { return .problem(.noCover(album, place)) }
            return .item(ListItem(url: "", album: album, line: place.line))
        } catch {
            let message = "album '\(album.title.inMessage)': \(error); skipped"
            return .problem(ListProblem(place: place, message: message, album: album))
        }
    }
}

/// Turns the bytes of one format into elements. A pure value: it is fed chunks of any length, in order, and its output does
/// not depend on where the chunks are cut.
protocol ListParser {
    /// Appends the elements that these bytes complete.
    /// - Throws: `ListProblem`: the rest cannot be read. The elements before the problem have been appended.
    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem)

    /// Appends the elements that the end of the list completes. Call it once, last.
    mutating func finish(into elements: inout [ListElement]) throws(ListProblem)
}
