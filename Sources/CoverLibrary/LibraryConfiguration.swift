public import Logging

/// How a library keeps and fetches covers. The defaults are polite: few connections a host, bounded waits.
public struct LibraryConfiguration: Sendable {
    /// Where covers are kept; made when it is not there.
    public var cacheDirectory: String
    /// The albums, as JSON; made from the starter albums on first use.
    public var libraryFile: String
    /// The most the cache may take of the disk, in bytes; nil keeps what the cache remembers, at first 10 GiB.
    public var capacity: Int?
    /// Maximum number of transfers in flight, all hosts together: 1 to 65536.
    public var parallel = 128
    /// Maximum number of transfers in flight to one host over HTTP/1.1: 1 to 65536. Over HTTP/2 they share a connection and only
    /// `parallel` counts.
    public var perHost = 32
    /// Begin with one transfer to a host and have more in flight only while that makes it faster; else always as many as
    /// `perHost` and `parallel` allow.
    public var adapts = true
    /// Maximum number of requests a second to one host. Above 0 and finite; nil for no limit.
    public var rate: Double?
    /// Maximum number of requests a second to all hosts together. Above 0 and finite; nil for no limit.
    public var totalRate: Double?
    /// Ask every host for its `/robots.txt` first, and fetch nothing that it forbids `sleeve` (RFC 9309).
    public var respectsRobots = false
    /// The longest time a request may take; each step of a redirect is one request. Above 0.
    public var timeout: Duration = .seconds(60)
    /// Retries after a temporary failure. At least 0.
    public var retries = 3
    /// The largest cover that is accepted, in bytes. At least 1.
    public var maximumSize = 32 << 20
    /// A PEM file of certificate authorities to trust instead of the system's.
    public var certificateAuthorities: String?
    /// The URL of the Cover Art Archive, or of another that answers like it (musicbrainz.org/doc/Cover_Art_Archive/API): albums
    /// with a MusicBrainz id get their covers from there when they have no other, or none that can be had.
    public var coverArtArchive = "https://coverartarchive.org"
    /// The size of the covers it is asked for.
    public var coverSize = CoverSize.pixels500
    /// Follow redirects from https to http, whose answers anybody on the way may change.
    public var allowsDowngrades = false
    /// Connect to no address that is not on the open Internet: this machine, its network, cloud metadata (RFC 6890). Looked at
    /// when connecting, so that neither a name nor a redirect leads around it; with a proxy, it is the proxy's address.
    public var deniesPrivateAddresses = false
    /// Never connect: what is not in the cache is a failure.
    public var isOffline = false
    /// The URL of a library elsewhere that is told of every album added or deleted; nil for none. It is told when
    /// `sendEdits` is called, in order, by `POST <remote>/api/addAlbum` and `POST <remote>/api/deleteAlbum`.
    public var remote: String?
    /// Told what a person may want to follow: tries, at `debug`; a library file that was made, at `notice`,
    /// or had to be mended, at `warning`.
    public var logger = Logger(label: "sleeve")
    /// What servers are told we are.
    public var userAgent = "Sleeve/\(LibraryAPI.version)"

    /// A library whose covers are in `cacheDirectory` and whose albums are in `libraryFile`.
    public init(cacheDirectory: String, libraryFile: String) {
        self.cacheDirectory = cacheDirectory
        self.libraryFile = libraryFile
    }

    /// - Throws: `LibraryError`: a value is out of its range.
    func validate() throws(LibraryError) {
        func require(_ isValid: Bool, _ name: String, _ range: String) throws(LibraryError) {
            if !isValid { throw LibraryError.invalidConfiguration("the configuration's \(name) must be \(range)") }
        }
        func isRate(_ rate: Double?) -> Bool { rate.map { $0 > 0 && $0.isFinite } ?? true }
        try require((1...65_536).contains(parallel), "parallel", "between 1 and 65536")
        try require((1...65_536).contains(perHost), "perHost", "between 1 and 65536")
        try require(isRate(rate), "rate", "above 0 and finite, or nil")
        try require(isRate(totalRate), "totalRate", "above 0 and finite, or nil")
        try require(timeout > .zero, "timeout", "above 0")
        try require(retries >= 0, "retries", "at least 0")
        try require(maximumSize > 0, "maximumSize", "at least 1 byte")
        try require(capacity.map { $0 >= 0 } ?? true, "capacity", "at least 0 bytes")
    }
}
