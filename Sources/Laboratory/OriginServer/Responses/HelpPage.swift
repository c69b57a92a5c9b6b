/// The origin's text pages.
enum HelpPage {
    static let text = """
        Sleeve's origin serves covers, latency and faults on demand.

          /covers/N.jpg       a generated cover, always the same for the same N: 8 to 250 KB, 31 KB on average
          /covers/N.png       a small PNG
          /starter/SLUG.jpg   a starter album's cover of 600×600 pixels, such as low-tide. Any other SLUG, and any SLUG
                              with size=BYTES, gives a generated cover, always the same for the same SLUG

        Query parameters:

          size=BYTES          the length of the body, at most three bytes shorter
          delay=MS            the delay before the response
          rate=BYTES          the body's bytes per second
          status=CODE         the status (retry-after=VALUE adds Retry-After)
          fault=NAME          \(OriginFault.names)
          times=N             only the first N requests with the same path and query fail
          redirect=N          N redirects before the cover (redirect-status=301, 302, 303, 307 or 308)
          to=URL              a redirect to another URL
          chunked=1           no Content-Length
          cache-control=VALUE the Cache-Control field
          same=M              the bytes of cover M
          field=NAME:VALUE    an additional field

        The Cover Art Archive's API (musicbrainz.org/doc/Cover_Art_Archive/API), for `--cover-art-archive`:

          /release/UUID/front         307 to a cover, also front-250, front-500, front-1200; 404 for ids that end in 404
          /release-group/UUID/front   the same

        /counts reports the requests so far, how many of them were answered 429, how many are in flight, and the
        connections.

        Covers have ETag and Last-Modified. If-None-Match and If-Modified-Since are supported.

        """

    /// A captive portal's page.
    static let portal = """
        <!DOCTYPE html>
        <html><head><title>Welcome</title></head><body><h1>Please sign in to the network</h1></body></html>

        """
}
