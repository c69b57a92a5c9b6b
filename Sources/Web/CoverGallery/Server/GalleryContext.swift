import CoverLibrary
import Hummingbird
import NIOCore
import Platform

/// The connection and the path parameters of a request.
struct GalleryContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that the request came over.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The album that the path names.
    var albumID: Album.ID {
        String(decoding: PercentEncoding.decoded((parameters.get("id") ?? "").utf8), as: UTF8.self)
    }
}
