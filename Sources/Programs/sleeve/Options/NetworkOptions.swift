import ArgumentParser
import CLinux
import CommandSupport
import CoverLibrary
import CoverSources
import Platform

/// Options of commands that send requests.
///
/// Those without a value have the default of `LibraryConfiguration`: each type of a default costs the parser a search.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Tell servers this mail address or page; MusicBrainz needs one. (default: $SLEEVE_CONTACT)",
            valueName: "address"))
    var contact: String?

    @Flag(help: "Never connect; covers that are not cached fail.")
    var offline = false

    // Unconditional parsing lets `validate` report the range for negative numbers.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Simultaneous transfers at most. (default: 128)", valueName: "n"))
    var parallel: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The same to one host over HTTP/1.1. (default: 64)", valueName: "n"))
    var perHost: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Requests per second to one host at most.", valueName: "n"))
    var rate: Double?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Timeout of one request. (default: 60)", valueName: "seconds"),
        transform: TimeSpan.seconds)
    var timeout: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Retries after a temporary failure. (default: 3)", valueName: "n"))
    var retries: Int?

    @Option(
        help: ArgumentHelp(
            "The User-Agent field of requests. (default: Sleeve/VERSION (CONTACT))", valueName: "text",
            visibility: .hidden))
    var userAgent: String?

    @Option(help: ArgumentHelp("The largest cover to download. (default: 32M)", valueName: "size", visibility: .hidden))
    var maxSize: ByteSize?

    @Option(
        help: ArgumentHelp(
            "Trust these certificate authorities (PEM) instead of the system's. (default: $CURL_CA_BUNDLE, $SSL_CERT_FILE)",
            valueName: "file",
            visibility: .hidden),
        completion: .file())
    var cacert: String?

    @Flag(help: ArgumentHelp("Connect to IPv4 addresses only.", visibility: .hidden))
    var ipv4 = false

    @Flag(help: ArgumentHelp("Connect to IPv6 addresses only.", visibility: .hidden))
    var ipv6 = false

    @Flag(name: .customLong("http1.1"), help: ArgumentHelp("Do not speak HTTP/2.", visibility: .hidden))
    var http1 = false

    @Flag(
        help: ArgumentHelp(
            "Follow redirects from https to http, which are refused otherwise.", visibility: .hidden))
    var allowDowngrade = false

    @Flag(
        help: ArgumentHelp(
            "Refuse connections to loopback, private, link-local and cloud-metadata addresses, also by redirects: for lists you do not trust.",
            visibility: .hidden))
    var denyPrivate = false

    /// The options that were given, for another process.
    var words: [String] {
        func word(_ name: String, _ value: (some CustomStringConvertible)?) -> String? {
            value.map { "--\(name)=\($0)" }
        }
        func word(_ name: String, _ isSet: Bool) -> String? { isSet ? "--\(name)" : nil }
        return [
            word("contact", contact), word("offline", offline), word("parallel", parallel), word("per-host", perHost),
            word("rate", rate), word("timeout", timeout), word("retries", retries), word("user-agent", userAgent),
            word("max-size", maxSize?.bytes), word("cacert", cacert), word("allow-downgrade", allowDowngrade),
            word("deny-private", denyPrivate), word("ipv4", ipv4), word("ipv6", ipv6), word("http1.1", http1),
        ].compactMap(\.self)
    }

    func validate() throws {
        func require(_ isValid: Bool, _ message: String) throws {
            if !isValid { throw ValidationError(message) }
        }
        try require((1...4_096).contains(parallel ?? 1), "--parallel must be between 1 and 4096")
        try require((1...4_096).contains(perHost ?? 1), "--per-host must be between 1 and 4096")
        try require((0.000_1...1e6).contains(rate ?? 1), "--rate must be between 0.0001 and 1000000")
        try require((0.001...86_400).contains(timeout ?? 1), "--timeout must be between 0.001 and 86400 seconds")
        try require((0...100).contains(retries ?? 0), "--retries must be between 0 and 100")
        try require(maxSize.map { $0.bytes > 0 } ?? true, "--max-size must be more than 0")
        try require(!ipv4 || !ipv6, "--ipv4 and --ipv6 exclude each other")
        try require(contact.map(Self.isContact) ?? true, "--contact needs a mail address or a URL")
        try require(
            userAgent.map(LibraryConfiguration.isUserAgent) ?? true, "--user-agent must be printable ASCII characters")
    }

    /// The contact that the option or the variable names.
    var knownContact: String? { contact ?? Environment.value("SLEEVE_CONTACT") }

    /// Applies the options, and prepares the process for transfers.
    /// - Throws: An exit code, after an error message, if the certificate authorities or a variable cannot be used.
    func apply(to configuration: inout LibraryConfiguration) throws {
        if let parallel { configuration.parallel = parallel }
        configuration.perHost = min(perHost ?? configuration.perHost, configuration.parallel)
        configuration.rate = rate
        if let userAgent { configuration.userAgent = userAgent }
        if let contact = knownContact {
            guard Self.isContact(contact) else { throw fail("$SLEEVE_CONTACT is not a mail address or a URL") }
            configuration.userAgent += " (\(contact))"
        }
        if let timeout { configuration.timeout = .milliseconds(Int(timeout * 1_000)) }
        if let retries { configuration.retries = retries }
        if let maxSize { configuration.maximumSize = maxSize.bytes }
        configuration.isOffline = offline
        configuration.allowsDowngrades = allowDowngrade
        configuration.deniesPrivateAddresses = denyPrivate
        configuration.addressFamily = ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil
        configuration.allowsHTTP2 = !http1
        if let cacert {
            guard access(cacert, R_OK) == 0 else {
                throw fail("cannot read the certificate authorities in \(cacert): \(SystemError("access").reason)")
            }
            configuration.certificateAuthorities = URL(filePath: cacert)
        }
        ProcessSetup.prepareForTransfers()
    }

    private static func isContact(_ text: String) -> Bool {
        LibraryConfiguration.isUserAgent(text) && CoverSource.hasContact(text) && !text.contains { "()".contains($0) }
    }
}

/// What servers get beside Sleeve's own header fields: for the commands that ask about URLs which their user names.
///
/// Messages show no values. No other process gets them: every user of the machine sees its arguments.
struct HeaderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send this header field to the server of each URL, not to where it redirects; @FILE has one a line, which hides them from other users.",
            valueName: "name: value", visibility: .hidden))
    var header: [String] = []

    func validate() throws {
        for line in header where !line.hasPrefix("@") {
            do throws(RequestHeaderFields.Problem) {
                _ = try RequestHeaderFields().adding(line)
            } catch {
                throw ValidationError("--header cannot be used: \(error)")
            }
        }
    }

    /// - Throws: An exit code, after an error message, if a file cannot be read or has a line that is no field.
    func fields() throws -> RequestHeaderFields {
        var fields = RequestHeaderFields()
        for word in header {
            let file = word.hasPrefix("@") ? String(word.dropFirst()) : nil
            let lines = try file.map { try self.lines(of: $0) } ?? [word]
            for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
                do throws(RequestHeaderFields.Problem) {
                    fields = try fields.adding(line)
                } catch {
                    throw fail("\(file ?? "--header"):\(index + 1): \(error)", .validationFailure)
                }
            }
        }
        return fields
    }

    private func lines(of file: String) throws -> [String] {
        let isReadable = access(file, R_OK) == 0
        guard isReadable, let data = FileManager.default.contents(atPath: file) else {
            let reason = isReadable ? "it is no file" : SystemError("access").reason
            throw fail("cannot read the header fields of --header in \(file): \(reason)")
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }
}

/// Whether it counts that a cover was not found lately.
struct AbsenceOptions: ParsableArguments {
    @Flag(help: "Ask again where no cover was found lately.")
    var retryMissing = false

    var cachePolicy: CoverRequest.CachePolicy { retryMissing ? .ignoreAbsence : .useCache }
}

/// Options for albums that locate their cover by a MusicBrainz id.
struct ArchiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Covers of this size from the Cover Art Archive: 250, 500, 1200 or full. (default: 500)",
            valueName: "pixels"), transform: Self.coverSize)
    var size: CoverSize?

    @OptionGroup(visibility: .hidden) var server: ArchiveServerOptions

    func apply(to configuration: inout LibraryConfiguration) throws {
        if let size { configuration.coverSize = size }
        try server.apply(to: &configuration)
    }

    private static func coverSize(_ text: String) throws -> CoverSize {
        guard let size = CoverSize(rawValue: text) else {
            throw ValidationError("--size must be one of \(CoverSize.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return size
    }
}

/// Which server answers for the Cover Art Archive.
struct ArchiveServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use this server with the Cover Art Archive's API. (default: caa in $SLEEVE_SOURCE_BASE, else https://coverartarchive.org)",
            valueName: "url"))
    var coverArtArchive: String?

    func apply(to configuration: inout LibraryConfiguration) throws {
        if let coverArtArchive {
            configuration.coverArtArchive = try URL(coverArtArchive, option: "--cover-art-archive")
        } else if let base = try SourceOptions.bases()[.caa] {
            configuration.coverArtArchive = try URL(base, option: "$SLEEVE_SOURCE_BASE")
        }
    }
}

extension URL {
    /// The URL that an option has.
    /// - Parameter option: names the URL in the error message.
    /// - Throws: An exit code, after an error message, if `text` is no URL.
    init(_ text: String, option: String) throws {
        guard let url = URL(string: text) else { throw fail("\(option) needs a URL") }
        self = url
    }
}

/// Settings of the whole process, which a library must not change.
enum ProcessSetup {
    /// Descriptors that sockets and covers may need. The soft limit is often 1024 where the hard limit is far higher.
    private static let descriptors = 8_192
    /// Bytes of free heap that glibc keeps instead of returning them to the kernel.
    private static let heapReserve: Int32 = 32 << 20

    /// Prepares for transfers. Commands that send requests call it before they open the library.
    static func prepareForTransfers() {
        // A write to a closed connection must fail with EPIPE instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.set(descriptors)
        #if os(Linux)
            // libcurl allocates 64 KiB for every transfer and frees them at its end. By default glibc unmaps them, and each
            // transfer pays a page fault for every 4 KiB.
            mallopt(M_TRIM_THRESHOLD, heapReserve)
            // What one thread allocates another frees. With an arena a thread, the free memory of each is of no use to the others: a run of
            // 120,000 covers grew to 143 MB, and with one arena takes 127, and as much CPU time.
            mallopt(M_ARENA_MAX, 1)
        #endif
    }
}
