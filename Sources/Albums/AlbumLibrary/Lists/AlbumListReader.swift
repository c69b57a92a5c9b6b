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
        let opened = try Self.open(path, ListLocation(file: file))
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
        return options.isLibraryFile ? elements : elements.map(\.withoutCoverFile)
    }

    /// Text that is not UTF-8 in an element that can be used nonetheless. Nil until it is read.
    package var notice: ListProblem? {
        guard let problem = buffer?.badText, !options.keepsOtherFields else { return nil }
        return problem
    }

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

    private static func open(_ path: String, _ location: ListLocation) throws(ListProblem) -> CInt {
        let descriptor = path == "-" ? STDIN_FILENO : systemOpen(path)
        guard descriptor >= 0 else {
            throw ListProblem(location, "cannot be opened: \(errorText())\(advice(path))")
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
        throw ListProblem(ListLocation(file: file), "cannot be read: \(Self.errorText())")
    }

    private static func errorText() -> String { String(cString: strerror(errno)) }
}

// `open` is also the name of a member above.
private func systemOpen(_ path: String) -> CInt { open(path, O_RDONLY | O_CLOEXEC) }
