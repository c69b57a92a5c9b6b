public import AlbumLibrary
import CoverCache
import CoverFetch
import CurlHTTP
import HTTPTypes
public import Logging
public import Platform

/// How a library keeps and fetches covers. The defaults are polite: few connections a host, bounded waits.
public struct LibraryConfiguration: Sendable {
    /// The cache directory: a file URL. Created if it is missing.
    public var cacheDirectory: URL
    /// The library file: albums as JSON. A file URL. Created by the first edit. Without it, calls for albums throw.
    public var libraryFile: URL?
    /// Maximum size of the cache on disk, in bytes, at least 4096. Nil keeps the cache's own, at first 10 GiB.
    public var capacity: Int?
    /// Maximum number of transfers in flight, all hosts together: 1 to 65536. There are fewer if the process's limit on open files is lower
    /// than three a transfer and 40.
    public var parallel = 128
    /// Maximum number of transfers in flight to one host over HTTP/1.1: 1 to 65536. Over HTTP/2 it limits the first ones only; then
    /// up to 100 share a connection.
    public var perHost = 64
    /// Adapts the number of transfers in flight per host. If false, for benchmarks, `perHost` and `parallel` always apply.
    package var adapts = true
    /// Maximum number of requests a second to one host. Above 0 and finite; nil for no limit.
    public var rate: Double?
    /// Maximum duration of a request; four times as long if the body arrives at a rate for which that suffices. Each redirect counts as a
    /// request. Above 0, at most a year.
    public var timeout: Duration = .seconds(60)
    /// Retries after a temporary failure. At least 0.
    public var retries = 3
    /// The largest cover that is accepted, in bytes. At least 1.
    public var maximumSize = 32 << 20
    /// A PEM file of certificate authorities to trust instead of the system's. It must be readable.
    public var certificateAuthorities: URL?
    /// A directory of such files, named by hashes as `openssl rehash` does, to trust instead of the system's.
    public var certificateDirectory: URL?
    /// False for authorities that variables of the environment name: those that cannot be read matter only to what needs them.
    package var requiresAuthorities = true
    /// The URL of the Cover Art Archive, or of a server with the same API (musicbrainz.org/doc/Cover_Art_Archive/API). Albums with
    /// a MusicBrainz id whose other cover URLs fail get their covers from there.
    public var coverArtArchive = URL(string: "https://coverartarchive.org")!
    /// The size of the covers requested from the Cover Art Archive.
    public var coverSize = CoverSize.pixels500
    /// Connects to addresses of this family only; nil for either.
    public var addressFamily: AddressFamily?
    /// Speaks HTTP/2 with servers that do.
    public var allowsHTTP2 = true
    /// Follows redirects from https to http, whose responses anyone on the path can change.
    public var allowsDowngrades = false
    /// Refuses to connect to private addresses: this machine, its network, cloud metadata (RFC 6890). Checked for each connection,
    /// redirects included. Behind a proxy, the proxy's address is checked.
    public var deniesPrivateAddresses = false
    /// Never connects: a cover that is not cached is a failure.
    public var isOffline = false
    /// The URL of a remote library; nil for none. `AlbumStore.sendEdits` posts every edit to it, in order, by
    /// `POST <remote>/api/addAlbum`, `/api/editAlbum` and `/api/deleteAlbum`.
    public var remote: URL?
    /// Logs retries (`debug`), creation of the library file (`notice`), and its repair (`warning`).
    public var logger = Logger(label: "sleeve")
    /// The `User-Agent` field of requests: printable ASCII characters. Add a contact, such as `Name/1.0 (+https://example.org/me)`,
    /// so that a server's operator can reach you; some services require one.
    public var userAgent = "Sleeve/\(version)"

    /// Names of query parameters that do not tell covers apart, such as those of a signature or a session. URLs that differ in them only
    /// are one cover. They are sent, and not kept: a refresh leaves such covers out, unless it gets their requests. A Subsonic server's
    /// `getCoverArt` needs no setting.
    public var ignoredParameters: Set<String> = []

    /// Header fields that are sent with every request to an origin, such as the credentials for a private server:
    /// `headerFields["https://music.example.org"] = [.authorization: "Bearer …"]`. A refresh sends them, too. Fields of one name in a
    /// request replace these.
    public var headerFields: [String: RequestHeaderFields] = [:]
    /// Sends the requests in place of libcurl; nil for libcurl. With it, `certificateAuthorities`, `certificateDirectory` and
    /// `deniesPrivateAddresses` do not apply.
    public var transport: (any CoverTransport)?
    /// The paths of the cover files that a program wrote beside the music of these albums, by their ids; without those that changed since. An album
    /// without another cover shows them. Called on a thread that may block.
    public var writtenCovers: @Sendable (Set<Album.ID>) -> [Album.ID: [UInt8]] = { _ in [:] }

    /// A library whose covers are in `cacheDirectory` and whose albums are in `libraryFile`.
    public init(cacheDirectory: URL, libraryFile: URL? = nil) {
        self.cacheDirectory = cacheDirectory
        self.libraryFile = libraryFile
    }

    /// The same with absolute paths: the program may change its working directory later.
    /// - Throws: `LibraryError`: a value is out of its range, the URL of a file is that of none, or the certificate authorities cannot be
    ///   read.
    func validated() throws(LibraryError) -> LibraryConfiguration {
        func absolute(_ url: URL, _ name: String) throws(LibraryError) -> URL {
            URL(
                filePath: try url.filePath {
                    LibraryError.invalidConfiguration("the configuration's \(name) cannot be \($0): \($1)")
                })
        }
        var configuration = self
        configuration.cacheDirectory = try absolute(cacheDirectory, "cacheDirectory")
        if let libraryFile { configuration.libraryFile = try absolute(libraryFile, "libraryFile") }
        for (authorities, name) in [
            (\LibraryConfiguration.certificateAuthorities, "certificateAuthorities"),
            (\LibraryConfiguration.certificateDirectory, "certificateDirectory"),
        ] {
            guard let url = self[keyPath: authorities] else { continue }
            let file = try absolute(url, name)
            configuration[keyPath: authorities] = file
            if transport == nil, requiresAuthorities, access(file.relativePath, R_OK) != 0 {
                let problem = SystemError("access", path: file.relativePath)
                throw .invalidConfiguration("the configuration's \(name) cannot be read: \(problem)")
            }
        }
        try validate()
        return configuration
    }

    private func validate() throws(LibraryError) {
        func require(_ isValid: Bool, _ name: String, _ range: String) throws(LibraryError) {
            if !isValid { throw .invalidConfiguration("the configuration's \(name) must be \(range)") }
        }
        try require((1...65_536).contains(parallel), "parallel", "between 1 and 65536")
        try require((1...65_536).contains(perHost), "perHost", "between 1 and 65536")
        try require(rate.map { $0 > 0 && $0.isFinite } ?? true, "rate", "above 0 and finite, or nil")
        try require(timeout > .zero && timeout <= .seconds(31_536_000), "timeout", "above 0 and at most a year")
        try require(retries >= 0, "retries", "at least 0")
        try require(maximumSize > 0, "maximumSize", "at least 1 byte")
        try require(capacity.map { $0 >= EntryLog.minimumCapacity } ?? true, "capacity", "at least 4096 bytes")
        try require(
            headerFields.keys.allSatisfy { Self.origin($0) != nil }, "headerFields",
            "by origin, such as https://example.org")
        try require(!ignoredParameters.contains(""), "ignoredParameters", "names, of which none is empty")
        try require(Self.isUserAgent(userAgent), "userAgent", "printable ASCII characters")
    }

    /// Whether a text can be a `User-Agent` field: not empty, and without control characters (RFC 9110, section 5.5).
    package static func isUserAgent(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    /// The version of Sleeve.
    static let version = "0.1.0"
}

extension LibraryConfiguration {
    /// A version of the Internet Protocol.
    public enum AddressFamily: Sendable {
        case ipv4, ipv6
    }
}

extension LibraryConfiguration {
    private var clientConfiguration: HTTPClientConfiguration {
        var http = HTTPClientConfiguration(userAgent: userAgent)
        http.timeout = timeout
        http.maximumBodySize = maximumSize
        http.certificateAuthorities = certificateAuthorities?.relativePath
        http.certificateDirectory = certificateDirectory?.relativePath
        http.deniesPrivateAddresses = deniesPrivateAddresses
        http.addressFamily = addressFamily.map { $0 == .ipv4 ? .v4 : .v6 }
        http.isHTTP1 = !allowsHTTP2
        http.maximumConnections = max(affordableParallel, 16)
        return http
    }

    /// - Throws: `LibraryError` if the process has no descriptor left.
    func makeClient() throws(LibraryError) -> HTTPClient {
        let adapter = transport.map {
            TransportAdapter(transport: $0, userAgent: userAgent, maximumSize: maximumSize)
        }
        do throws(SystemError) {
            return try HTTPClient(configuration: clientConfiguration, transport: adapter.map { $0.response })
        } catch {
            throw .networkUnavailable("\(error); \(DescriptorLimit.advice)")
        }
    }

    /// `parallel`, or as many transfers as the process has descriptors for. Each has a connection, a file, and its share of what looks names up;
    /// the cache and the network have about 40.
    private var affordableParallel: Int {
        DescriptorLimit.current.map { min(parallel, max(1, ($0 - 40) / 3)) } ?? parallel
    }

    /// How the scheduler limits, retries and follows redirects.
    var policy: FetchPolicy {
        var limits = FetchLimits(
            parallel: affordableParallel, perHost: perHost, interval: rate.map(Self.interval), adapts: adapts)
        limits.awaitsConnections = transport == nil
        return FetchPolicy(
            limits: limits, retry: RetryPolicy(retries: retries),
            allowsDowngrades: allowsDowngrades, headerFields: fieldsByOrigin)
    }

    /// The header fields of each origin, normalised as `HTTPURL.origin`.
    var fieldsByOrigin: [String: HTTPFields] {
        headerFields.reduce(into: [:]) { fields, entry in
            if let origin = Self.origin(entry.key) { fields[origin] = entry.value.fields }
        }
    }

    /// The normalised origin of a text such as `https://example.org`; nil if it is none.
    static func origin(_ text: String) -> String? {
        guard let url = try? HTTPURL(text), url.target == "/" else { return nil }
        return String(url.origin)
    }

    /// The time between two requests at a rate; at most 30 years, which a `Duration` can hold.
    private static func interval(_ rate: Double) -> Duration { .seconds(min(1 / rate, 1e9)) }
}
