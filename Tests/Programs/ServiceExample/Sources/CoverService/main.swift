import CoverLibrary
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

var configuration = LibraryConfiguration(cacheDirectory: URL(filePath: "cache/cover-service"))
configuration.deniesPrivateAddresses = true
let library = try await LibraryAPI(configuration: configuration)
let application = Application(
    router: CoverRoutes(library: library).router(), configuration: .init(address: .hostname("127.0.0.1", port: 8_080)))
// The server ends first, with the responses that it has begun; then the library closes.
let group = ServiceGroup(
    services: [library, application], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "covers"))
try await group.run()
