public import Logging

/// How a library keeps and fetches covers. The defaults are polite: few connections a host, bounded waits.
public struct LibraryConfiguration: Sendable {
    /// Where covers are kept; made when it is not there.
    public var cacheDirectory: String
    /// The albums, as JSON; made from the starter albums on first use.
    public var libraryFile: String
    /// The most the cache may take of the disk, in bytes; nil keeps what the cache remembers, at first 10 GiB.
    public var capacity: Int?
    /// Transfers in flight at the most, all hosts together.
    public var parallel = 128
    /// Transfers in flight to one host over HTTP/1.1 at the most; over HTTP/2 they share a connection and only `parallel` counts.
    public var perHost = 32
    /// Begin with one transfer to a host and have more in flight only while that makes it faster; else always as many as
    /// `perHost` and `parallel` allow.
    public var adapts = true
    /// Requests a second to one host; nil for no limit.
    public var rate: Double?
    /// Requests a second to all hosts together; nil for no limit.
    public var totalRate: Double?
    /// Ask every host for its `/robots.txt` first, and fetch nothing that it forbids `sleeve` (RFC 9309).
    public var respectsRobots = false
    /// The longest a request may take; each step of a redirect is one.
    public var timeout: Duration = .seconds(60)
    /// How often a transfer is tried again after a failure that may pass.
    public var retries = 3
    /// The largest cover taken, in bytes.
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
}
