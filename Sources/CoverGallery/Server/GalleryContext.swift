import CoverLibrary
import Hummingbird
import NIOCore

/// What the routes know of a request besides the request itself.
struct GalleryContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that the request came over.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The album that the path names.
    var albumID: Album.ID { (parameters.get("id") ?? "").percentDecoded }
}
