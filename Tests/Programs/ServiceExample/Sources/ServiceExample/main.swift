import CoverLibrary
import Foundation
import Logging
import ServiceLifecycle

// Keeps the covers of the URLs on its command line fresh until it is told to stop (SIGTERM, SIGINT). A program with a metrics backend or a
// tracer bootstraps them here; the library reports to whatever there is.
let logger = Logger(label: "example")
let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
let library = try await LibraryAPI(
    configuration: LibraryConfiguration(cacheDirectory: URL(filePath: "cache/service-example")))
// Services shut down in reverse order: the library closes after those that use it.
let group = ServiceGroup(
    services: [library, CoverKeeper(library: library, urls: urls, interval: .seconds(3_600))],
    gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
try await group.run()
