/// The texts an origin serves besides covers.
enum HelpPage {
    static let text = """
        Sleeve's origin: covers, latency and faults on demand.

          /covers/N.jpg       a generated cover, the same for the same N; 8 to 250 KB, 31 KB on average
          /covers/N.png       a small PNG
          /starter/SLUG.jpg   a starter album's cover, 600×600 pixels, such as low-tide; for another SLUG, or with
                              size=BYTES, a generated cover, the same for the same SLUG

        Any of them takes these query parameters:

          size=BYTES          about so long
          delay=MS            wait before answering
          rate=BYTES          send so many bytes a second
          status=CODE         answer with this status (and retry-after=VALUE)
          fault=NAME          \(OriginFault.allCases.map(\.rawValue).joined(separator: ", "))
          times=N             fail only the first N requests for exactly this path and query
          redirect=N          N redirects before the cover (redirect-status=301, 302, 303, 307 or 308)
          to=URL              a redirect to another URL
          chunked=1           no Content-Length
          cache-control=VALUE
          same=M              the bytes of cover M
          type=VALUE          another Content-Type
          field=NAME:VALUE    a field of the answer, beside its own

        The Cover Art Archive's answers (musicbrainz.org/doc/Cover_Art_Archive/API), for `--cover-art-archive`:

          /release/UUID/front         307 to a cover, also front-250, front-500, front-1200; 404 for ids that end in 404
          /release-group/UUID/front   the same

        A library that is told of edits, for `sleeve album --remote`: POST /api/addAlbum, POST /api/deleteAlbum,
        GET /api/albums.

        /counts tells how many requests there were, how many of them were answered 429, and how many are in flight.

        Covers have ETag and Last-Modified; If-None-Match, If-Modified-Since, Range and If-Range are understood.

        """

    /// What a captive portal says instead of a cover.
    static let portal = """
        <!DOCTYPE html>
        <html><head><title>Welcome</title></head><body><h1>Please sign in to the network</h1></body></html>

        """
}
