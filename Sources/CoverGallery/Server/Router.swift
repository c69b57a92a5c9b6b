import CoverLibrary
import HTTPTypes
import Hummingbird

/// Everything the gallery answers, by path.
func makeRouter(_ model: GalleryModel, _ access: AccessMiddleware) -> Router<BasicRequestContext> {
    let router = Router(options: .autoGenerateHeadEndpoints)
    router.add(middleware: access)
    let files = PageFiles()
    router.get("/") { request, _ in
        var response = try files.response("index.html", request)
        // The browser loads the first covers while it still reads the page (RFC 8288, HTML's `preload`).
        for cover in await model.firstCovers(of: request.cookie(AlbumRoutes.clientCookie), reach: 2) {
            guard let digest = cover.cached?.digest else { continue }
            let path = "/covers/\(cover.album.percentEncoded)?v=\(CoverVersion.of(digest))"
            response.headers.append(HTTPField(name: .link, value: "<\(path)>; rel=preload; as=image"))
        }
        return response
    }
    router.get("/{file}") { request, context in try files.response(context.parameters.get("file") ?? "", request) }
    AlbumRoutes(model: model).add(to: router)
    CoverRoutes(model: model).add(to: router)
    PageRoutes(model: model).add(to: router)
    return router
}

extension HTTPField.Name {
    fileprivate static let link = Self("Link")!
}
