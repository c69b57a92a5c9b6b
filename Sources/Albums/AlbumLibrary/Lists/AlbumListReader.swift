import Platform

/// Streams a list of covers from a file or from standard input, in bounded memory.
///
/// It blocks in `read(2)`: use it on a separate thread, never on Swift's cooperative pool. It is not thread-safe.
/// A problem with one element is an element; a thrown error means that the rest of the list cannot be read.
package final class AlbumListReader {
    private let descriptor: CInt
    /// The list is a database.
    private let beets: BeetsLibrary?
    private let file: String
    private let options: ListOptions
    private let chunk: UnsafeMutableRawBufferPointer

    /// Bytes read before the format was detected.
    private var opening: [UInt8] = []
    private var buffer: ListBuffer?
    private var isEnded = false
    /// The byte that ends the list's lines. The parsers get line feeds.
    private var lineEnd = Byte.newline
    /// Where a character was left out that stood around a URL, and of how many URLs.
    private var leftOut: (first: ListLocation, character: Unicode.Scalar, count: Int)?
    /// The error that the next call throws.
    private var pending: ListProblem?

    /// Opens a list; `-` is standard input.
    /// - Throws: `ListProblem` if the file is missing, a directory or not readable.
    package init(path: String, _ options: ListOptions = ListOptions()) throws(ListProblem) {
        file = path == "-" ? "stdin" : path
        self.options = options
        let opened = try Self.descriptor(of: path, ListLocation(file: file))
        if let header = Self.databaseHeader(opened), opened != STDIN_FILENO {
            // Closing it later would drop the locks that SQLite holds in this process (fcntl(2)).
            close(opened)
            descriptor = -1
            beets = try BeetsLibrary(path: path, header: header)
        } else {
            descriptor = opened
            beets = nil
        }
        chunk = .allocate(byteCount: ListLimit.chunk, alignment: 16)
    }

    deinit {
        chunk.deallocate()
        if descriptor > STDIN_FILENO { close(descriptor) }
    }

    /// The first bytes of a SQLite database; nil for any other file, and for a pipe.
    private static func databaseHeader(_ descriptor: CInt) -> [UInt8]? {
        var header = [UInt8](repeating: 0, count: 100)
        let isDatabase = header.withUnsafeMutableBytes { bytes in
            pread(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count
                && BeetsLibrary.isDatabase(UnsafeRawBufferPointer(bytes))
        }
        return isDatabase ? header : nil
    }

    /// The elements of the next chunk that completes any, in order; nil at the end.
    /// - Throws: `ListProblem`, once, if the rest cannot be read. Later calls return nil.
    package func next() throws(ListProblem) -> [ListElement]? {
        var elements: [ListElement] = []
        while elements.isEmpty {
            if let pending {
                self.pending = nil
                throw pending
            }
            if isEnded { return nil }
            do throws(ListProblem) {
                try step(&elements)
            } catch {
                isEnded = true
                pending = error
            }
        }
        for case .item(let item) in elements {
            guard let character = item.leftOut else { continue }
            let first = leftOut ?? (ListLocation(file: file, line: item.line), character, 0)
            leftOut = (first.first, first.character, first.count + 1)
        }
        return elements
    }

    /// Text that is not UTF-8 in an element that can be used nonetheless. Nil until it is read.
    package var notice: ListProblem? { options.keepsOtherFields ? nil : buffer?.badText }

    /// Characters around URLs that were left out since the list's beginning; nil if there were none.
    package var leftOutNotice: ListProblem? {
        leftOut.map { first, character, count in
            let code = String(character.value, radix: 16, uppercase: true)
            let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
            return ListProblem(
                first,
                "invisible characters around \(count == 1 ? "a URL" : "\(count) URLs") are left out, the first of them \(name)"
            )
        }
    }

    private func step(_ elements: inout [ListElement]) throws(ListProblem) {
        if let beets {
            guard let albums = try beets.next() else {
                isEnded = true
                return
            }
            return elements += albums
        }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: chunk[..<(try read())])
        isEnded = bytes.isEmpty
        if lineEnd != Byte.newline { Self.replace(lineEnd, in: bytes) }
        if buffer == nil {
            opening.append(contentsOf: bytes)
            try begin(&elements)
        } else {
            try buffer?.feed(UnsafeRawBufferPointer(bytes), isLast: isEnded, into: &elements)
        }
    }

    /// Chooses the parser once enough bytes are read, and feeds them to it.
    private func begin(_ elements: inout [ListElement]) throws(ListProblem) {
        var opening = opening
        let isLast = isEnded
        let detected = try opening.withBytes { (bytes) throws(ListProblem) in
            try DetectedFormat.detect(bytes, isWhole: isLast, file: file, options)
        }
        guard let detected else { return }
        self.opening = []
        let parser: any ListParser =
            switch detected.format {
            case .json: JSONListParser(file: file, hasLines: false, options)
            case .jsonl: JSONListParser(file: file, hasLines: true, options)
            case .csv: CSVParser(file: file, separator: detected.separator, line: detected.line, options)
            case .urls: URLListParser(file: file)
            }
        lineEnd = detected.lineEnd
        if lineEnd != Byte.newline { opening.withUnsafeMutableBytes { Self.replace(lineEnd, in: $0) } }
        var buffer = ListBuffer(parser, options)
        defer { self.buffer = buffer }
        try opening.withBytes { (bytes) throws(ListProblem) in
            let list = UnsafeRawBufferPointer(rebasing: bytes[detected.start...])
            try buffer.feed(list, isLast: isLast, into: &elements)
        }
    }

    /// Makes line feeds of the bytes that end lines.
    private static func replace(_ lineEnd: UInt8, in bytes: UnsafeMutableRawBufferPointer) {
        for index in bytes.indices where bytes[index] == lineEnd { bytes[index] = Byte.newline }
    }

    // MARK: The file

    /// Advice if the path is the URL of a cover.
    private static func advice(_ path: String) -> String {
        guard path.hasPrefix("http://") || path.hasPrefix("https://") else { return "" }
        return
            "; to download one cover, run `sleeve get URL -o FILE`; to download several, pipe URLs into `sleeve prefetch -`"
    }

    private static func descriptor(of path: String, _ location: ListLocation) throws(ListProblem) -> CInt {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ListProblem(location, "cannot be opened: \(SystemError("open").reason)\(advice(path))")
        }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            if descriptor != STDIN_FILENO { close(descriptor) }
            throw ListProblem(
                location,
                "is a directory; \(DetectedFormat.expected); `sleeve fill DIR` finds the covers of a music folder")
        }
        return descriptor
    }

    /// Reads at most one chunk, as soon as bytes are available. Returns 0 at the end.
    private func read() throws(ListProblem) -> Int {
        let count = readSome(chunk, from: descriptor)
        if count >= 0 { return count }
        throw ListProblem(ListLocation(file: file), "cannot be read: \(SystemError("read").reason)")
    }
}

/// How a list is read.
package struct ListOptions: Sendable {
    /// Overrides the format that extension and content suggest.
    package var format: ListFormat?
    /// Keeps every field, for callers that write the albums again.
    package var keepsOtherFields = false
    /// The list is a library file: only the names of fields that Sleeve writes are known. Other lists may come from other
    /// programs, with other names and other shapes.
    package var isLibraryFile = false
    /// The column, or the JSON field, that holds the cover's URL.
    package var urlColumn: String?
    /// The maximum length of an element, in bytes.
    var limit = ListLimit.element

    package init(
        format: ListFormat? = nil, keepsOtherFields: Bool = false, isLibraryFile: Bool = false, urlColumn: String? = nil
    ) {
        self.format = format
        self.keepsOtherFields = keepsOtherFields
        self.isLibraryFile = isLibraryFile
        self.urlColumn = urlColumn
    }
}

/// The format of a list of covers. All formats stream: they do not need the whole list in memory.
package enum ListFormat: String, CaseIterable, Sendable {
    /// One JSON array (RFC 8259) of albums or URLs.
    case json
    /// JSON lines: an album or a URL on each line.
    case jsonl
    /// Comma, tab or semicolon separated values (RFC 4180) with a header.
    case csv
    /// A URL on each line; blank lines and lines that begin with `#` are ignored.
    case urls
}

/// The limits that bound a reader's memory.
enum ListLimit {
    /// The maximum length of a line, CSV row or JSON element, in bytes. Longer ones are skipped and never held in memory.
    static let element = Album.maximumLength

    /// The length of one read, in bytes.
    static let chunk = 64 << 10
}

/// The format of a list, detected from its first bytes.
struct DetectedFormat: Equatable {
    var format: ListFormat
    /// The field separator of a ``ListFormat/csv`` list.
    var separator = Byte.comma
    /// Where the list begins: after a byte order mark and, in CSV, after the lines before the header.
    var start = 0
    /// The number of the line at `start`.
    var line = 1
    /// The byte that ends the lines: a line feed, or a carriage return alone, as in CSV that Excel writes for old Macs.
    var lineEnd = Byte.newline

    /// Detects the format of the list that begins with `bytes`. Returns nil if it needs more bytes, never if `isWhole` or if there are more than
    /// `ListLimit.element`: a longer first line is not a header.
    ///
    /// The requested format wins, then the file's extension, then the content. One byte identifies JSON, the first line that
    /// is not a comment the other formats.
    /// - Throws: `ListProblem` if the file is not a list; the message says what it is.
    static func detect(
        _ bytes: UnsafeRawBufferPointer, isWhole: Bool, file: String, _ options: ListOptions = ListOptions()
    ) throws(ListProblem) -> DetectedFormat? {
        let location = ListLocation(file: file)
        // They may begin the mark of an encoding or of a compressed file.
        if !isWhole && bytes.count < 3 && [nil, 0xEF, 0xFF, 0xFE, 0x1F].contains(bytes.first) { return nil }
        if let kind = kindOfBinary(bytes, file) { throw ListProblem(location, kind) }
        let markLength = bytes.starts(with: Byte.orderMark) ? Byte.orderMark.count : 0

        guard let begin = bytes.dropFirst(markLength).firstIndex(where: { !Byte.isWhitespace($0) }) else {
            if isWhole { throw ListProblem(location, "is empty; \(expected)") }
            guard bytes.count > ListLimit.element else { return nil }
            throw ListProblem(location, "begins with 1 MiB of blanks; \(expected)")
        }
        var format = options.format
        if format == nil { format = try byExtension(location, first: bytes[begin]) }
        if format == nil { format = try byFirstByte(location, bytes[begin...]) }
        if let format, format == .json || format == .jsonl { return DetectedFormat(format: format, start: markLength) }
        guard let lineEnd = Self.lineEnd(bytes, isWhole: isWhole),
            let opening = CSVOpening(bytes, from: markLength, lineEnd: lineEnd, isWhole: isWhole, options)
        else { return nil }
        var detected = DetectedFormat(format: .urls, start: markLength, lineEnd: lineEnd)
        if format == .csv || (format == nil && opening.isCSV) {
            detected.format = .csv
            (detected.separator, detected.start, detected.line) = (opening.separator, opening.start, opening.line)
        }
        return detected
    }

    /// Nil if the extension does not name a format.
    private static func byExtension(_ location: ListLocation, first: UInt8) throws(ListProblem) -> ListFormat? {
        let path = location.file
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        switch path[dot...].lowercased() {
        case ".jsonl", ".ndjson":
            // No line of JSON lines begins with a bracket, so this is an array with the wrong extension.
            return first == Byte.openBracket ? .json : .jsonl
        case ".json":
            if first == Byte.openBracket { return .json }
            if first == Byte.openBrace || first == Byte.quote { return .jsonl }
            throw ListProblem(
                location, "is not JSON: it begins with \(Byte.name(first)); name its format with --format")
        case ".csv", ".tsv": return .csv
        default: return nil
        }
    }

    /// Nil for CSV or URLs.
    private static func byFirstByte(
        _ location: ListLocation, _ bytes: Slice<UnsafeRawBufferPointer>
    ) throws(ListProblem) -> ListFormat? {
        switch bytes.first {
        case Byte.openBracket: return .json
        case Byte.openBrace: return .jsonl
        // A URL may be in angle brackets.
        case Byte.less where !bytes.dropFirst().starts(with: "http".utf8):
            throw ListProblem(
                location, "is HTML or XML; \(expected); `sleeve fill DIR` finds the covers of a music folder")
        default: return nil
        }
    }

    /// The byte that ends the first line; nil if more bytes are needed.
    private static func lineEnd(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> UInt8? {
        guard let end = bytes.firstIndex(where: { $0 == Byte.newline || $0 == Byte.carriageReturn }) else {
            return Byte.newline
        }
        guard let next = bytes[end...].first(where: { $0 != Byte.carriageReturn }) else {
            return isWhole || bytes.count > ListLimit.element ? Byte.carriageReturn : nil
        }
        return next == Byte.newline ? Byte.newline : Byte.carriageReturn
    }

    /// Describes a list, for messages about a file that is not one.
    static let expected = "expected a list of albums (JSON, JSON lines, CSV, a beets library) or of URLs"

    /// The kind of a file whose bytes are not UTF-8 text, and how to get a list from it; nil if they may be text.
    private static func kindOfBinary(_ bytes: UnsafeRawBufferPointer, _ file: String) -> String? {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return "is UTF-16; save it as UTF-8"
        }
        if bytes.starts(with: [0x1F, 0x8B]) {
            return "is compressed; run: gunzip -c \(file == "stdin" ? "FILE" : file) | sleeve prefetch -"
        }
        if BeetsLibrary.isDatabase(bytes) { return "is a SQLite database; name the file instead of piping it" }
        if bytes.contains(0) { return "is a binary file; \(expected)" }
        return nil
    }
}
