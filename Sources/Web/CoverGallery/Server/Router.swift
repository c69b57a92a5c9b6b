import CoverLibrary
import HTTPTypes
import Hummingbird

/// Everything the gallery answers, by path.
func makeRouter(
    _ model: GalleryModel, _ access: AccessMiddleware, _ covers: CoverByURLRoute, base: BasePath
) -> Router<GalleryContext> {
    let router = Router(context: GalleryContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: access)
    let files = PageFiles()
    let routes = router.group(RouterPath(base.text))
    routes.get("/") { request, _ in
        // The router ignores empty segments, but the page's addresses are relative to its own.
        guard request.uri.path == base.text else {
            return Response(status: .permanentRedirect, headers: [.location: base.text])
        }
        return try await files.response("index.html", request)
    }
    for path in ["/{file}", "/files/{version}/{file}"] as [RouterPath] {
        routes.get(path) { request, context in
            let (file, version) = (context.parameters.get("file"), context.parameters.get("version"))
            return try await files.response(file ?? "", version: version, request)
        }
    }
    AlbumRoutes(model: model, base: base).add(to: routes)
    CoverRoutes(model: model).add(to: routes)
    covers.add(to: routes)
    PageRoutes(model: model).add(to: routes)
    FilterRoutes(model: model).add(to: routes)
    if base != .root {
        // A proxy that removes the path from requests ends here.
        for path in ["/", "**"] as [RouterPath] {
            router.get(path) { _, _ -> Response in
                throw HTTPError(.notFound, message: "there is nothing here: the gallery is below \(base.text)")
            }
        }
    }
    return router
}
