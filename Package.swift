// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
// SwiftPM does not resolve a package whose every use is behind a disabled trait.
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Programs"]))

// What a server program wants, each behind a trait of its name.
func serverProduct(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: [product]))
}
let metrics = serverProduct("Metrics", "swift-metrics")
let tracing = serverProduct("Tracing", "swift-distributed-tracing")
let serviceLifecycle = serverProduct("ServiceLifecycle", "swift-service-lifecycle")

// What parses options and prints: its optimization would be the last minute of a build, on one core.
let unoptimized = settings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

// The rooms, lowest first. An arrow is a dependency; there is none between CurlHTTP and CoverCache: the network does
// not know the disk. `Scripts/test` builds with `--explicit-target-dependency-import-check error`.
let package = Package(
    name: "sleeve",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "CoverLibrary", targets: ["CoverLibrary"]),
        .library(name: "AlbumLibrary", targets: ["AlbumLibrary"]),
        .executable(name: "sleeve", targets: ["sleeve"]),
        .executable(name: "sleeve-lab", targets: ["sleeve-lab"]),
    ],
    traits: [
        .default(enabledTraits: ["Programs"]),
        .trait(
            name: "Programs",
            description: "The commands and their servers, which a program that uses CoverLibrary does not need."),
        .trait(name: "Metrics", description: "CoverLibrary counts transfers and look-ups with swift-metrics."),
        .trait(name: "Tracing", description: "CoverLibrary has spans of swift-distributed-tracing."),
        .trait(name: "ServiceLifecycle", description: "LibraryAPI is a service of swift-service-lifecycle."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        // Only for the traits of their names, which are off by default. Tests/Programs/ServiceExample turns them on.
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CCurl", path: "Sources/System/CCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        // macOS has CryptoKit instead.
        .systemLibrary(
            name: "CCrypto", path: "Sources/System/CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CFiles", path: "Sources/System/CFiles"),
        .systemLibrary(name: "CLinux", path: "Sources/System/CLinux"),
        .systemLibrary(name: "CSQLite", path: "Sources/System/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CZlib", path: "Sources/System/CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CMicroHTTPD", path: "Sources/System/CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        // TagLib itself, for pkg-config; its headers are C++.
        .systemLibrary(
            name: "TagLib", path: "Sources/Music/TagLib", pkgConfig: "taglib",
            providers: [.apt(["libtag1-dev"]), .brew(["taglib"])]),
        // Its door: functions of C.
        .target(name: "CTagLib", dependencies: ["TagLib"], path: "Sources/Music/CTagLib"),
        .systemLibrary(
            name: "CJPEG", path: "Sources/Pictures/CJPEG", pkgConfig: "libjpeg",
            providers: [.apt(["libjpeg-dev"]), .brew(["jpeg-turbo"])]),
        .systemLibrary(
            name: "CSPNG", path: "Sources/Pictures/CSPNG", pkgConfig: "spng",
            providers: [.apt(["libspng-dev"]), .brew(["libspng"])]),
        .systemLibrary(
            name: "CWebP", path: "Sources/Pictures/CWebP", pkgConfig: "libwebp",
            providers: [.apt(["libwebp-dev"]), .brew(["webp"])]),
        // Reads pictures in a smaller size, and writes JPEG. libjpeg needs C: its errors are long jumps.
        .target(name: "CPictures", dependencies: ["CJPEG", "CSPNG", "CWebP"], path: "Sources/Pictures/CPictures"),
        // What several rooms need of the system: threads, file locks, atomic file writes, digests.
        .target(
            name: "Platform",
            dependencies: [.target(name: "CCrypto", condition: .when(platforms: [.linux])), "CFiles"],
            path: "Sources/System/Platform", swiftSettings: settings),
        // Folders and files, those of people too: created, replaced and removed without a loss.
        .target(
            name: "Files", dependencies: ["Platform", "CFiles"], path: "Sources/System/Files", swiftSettings: settings),
        .target(
            name: "SQLite", dependencies: ["Platform", "CSQLite"], path: "Sources/System/SQLite",
            swiftSettings: settings),
        .target(
            name: "HTTPCaching", dependencies: [httpTypes], path: "Sources/Network/HTTPCaching", swiftSettings: settings
        ),
        .target(
            name: "CurlHTTP", dependencies: ["Platform", "CCurl", "CLinux", httpTypes],
            path: "Sources/Network/CurlHTTP", swiftSettings: settings),
        .target(name: "ImageHeader", path: "Sources/Pictures/ImageHeader", swiftSettings: settings),
        // Pictures in smaller sizes, and the threads that make them.
        .target(
            name: "CoverSizes", dependencies: ["CPictures", "ImageHeader", "Platform"],
            path: "Sources/Pictures/CoverSizes", swiftSettings: settings),
        .target(
            name: "CoverCache", dependencies: ["Files", "Platform", "SQLite", "CLinux"],
            path: "Sources/Covers/CoverCache", swiftSettings: settings),
        // Covers of a cache in one file.
        .target(
            name: "CoverPack", dependencies: ["CoverCache", "Files", "Platform"], path: "Sources/Covers/CoverPack",
            swiftSettings: settings),
        .target(
            name: "CoverFetch",
            dependencies: ["Platform", "CurlHTTP", "HTTPCaching", "ImageHeader", httpTypes, logging],
            path: "Sources/Covers/CoverFetch", swiftSettings: settings),
        .target(
            name: "AlbumLibrary", dependencies: ["Files", "Platform", "SQLite", logging],
            path: "Sources/Albums/AlbumLibrary", swiftSettings: settings),
        .target(
            name: "CoverLibrary",
            dependencies: [
                "Platform", "CoverFetch", "CoverCache", "CoverPack", "CoverSizes", "AlbumLibrary",
                "CurlHTTP", "Files", "HTTPCaching",
                "ImageHeader", httpTypes,
                logging, metrics, tracing, serviceLifecycle,
            ],
            path: "Sources/Covers/CoverLibrary", swiftSettings: settings),
        // Above the library, so that a program that uses only that needs no TagLib.
        .target(
            name: "MusicFolder",
            dependencies: [
                "AlbumLibrary", "CTagLib", "CoverLibrary", "CoverSizes", "CoverSources", "Files", "ImageHeader",
                "Platform", "SQLite",
            ],
            path: "Sources/Music/MusicFolder", swiftSettings: settings),
        // Where covers of albums are looked for: services, what they answer, and whether it is the album.
        .target(
            name: "CoverSources", dependencies: ["CZlib", "CoverSizes", "Platform", "SQLite"],
            path: "Sources/Music/CoverSources", swiftSettings: settings),
        // Requests in, responses out, by libmicrohttpd alone.
        .target(
            name: "WebServer", dependencies: ["Platform", "CMicroHTTPD", httpTypes], path: "Sources/Web/WebServer",
            swiftSettings: settings),
        // The files of the page.
        .target(name: "CGalleryPage", path: "Sources/Web/CGalleryPage", exclude: ["Page"]),
        .target(
            name: "CoverGallery",
            dependencies: [
                "AlbumLibrary", "CGalleryPage", "CoverLibrary", "CoverSources", "Files", "HTTPCaching", "Platform",
                "WebServer", "CZlib", httpTypes,
            ],
            path: "Sources/Web/CoverGallery", swiftSettings: settings),
        .target(name: "CStarterCovers", path: "Sources/Laboratory/CStarterCovers", exclude: ["covers"]),
        .target(
            name: "OriginServer", dependencies: ["CStarterCovers", "Platform", "HTTPCaching", "WebServer", httpTypes],
            path: "Sources/Laboratory/OriginServer", swiftSettings: settings),
        // What the commands of both programs need: messages, files, signals, child processes.
        .target(
            name: "CommandSupport",
            dependencies: ["AlbumLibrary", "Files", "Platform", "CLinux", argumentParser, logging],
            path: "Sources/Programs/CommandSupport", swiftSettings: settings),
        .executableTarget(
            name: "sleeve",
            dependencies: [
                "AlbumLibrary", "CommandSupport", "CoverLibrary", "CoverGallery", "MusicFolder", "OriginServer",
                "CoverPack", "CoverSources", "Platform",
                "CLinux", argumentParser, logging,
            ],
            path: "Sources/Programs/sleeve", swiftSettings: unoptimized),
        // The laboratory. `sleeve` depends on nothing from here on.
        .target(
            name: "LinkEmulator", dependencies: ["Platform", "CLinux"],
            path: "Sources/Laboratory/LinkEmulator", swiftSettings: settings),
        .executableTarget(
            name: "sleeve-lab",
            dependencies: [
                "CommandSupport", "CoverLibrary", "CoverSizes", "LinkEmulator", argumentParser,
            ],
            path: "Sources/Laboratory/sleeve-lab", swiftSettings: settings),
        .executableTarget(
            name: "PrefetchExample", dependencies: ["CoverLibrary"], path: "Tests/Programs/PrefetchExample",
            swiftSettings: settings),

        // Stands in for a part of the standard library in sanitized builds; empty otherwise.
        .target(name: "SanitizerMutex", path: "Tests/System/SanitizerMutex"),
        // An HTTP client and a listener of plain blocking calls.
        .target(name: "Wire", path: "Tests/Network/Wire", swiftSettings: settings),
        // Small audio files of every format, made from their specifications.
        .target(name: "MusicFiles", path: "Tests/Music/MusicFiles", swiftSettings: settings),
        .testTarget(
            name: "CurlHTTPTests",
            dependencies: [
                "CurlHTTP", "CCurl", "Platform", "SanitizerMutex", "OriginServer", "LinkEmulator", "Wire", httpTypes,
            ],
            path: "Tests/Network/CurlHTTPTests", swiftSettings: settings),
        .testTarget(
            name: "HTTPCachingTests", dependencies: ["HTTPCaching", httpTypes], path: "Tests/Network/HTTPCachingTests",
            swiftSettings: settings),
        .testTarget(
            name: "PlatformTests", dependencies: ["Platform"], path: "Tests/System/PlatformTests",
            swiftSettings: settings),
        .testTarget(
            name: "FilesTests", dependencies: ["Files", "Platform"], path: "Tests/System/FilesTests",
            swiftSettings: settings),
        .testTarget(
            name: "SQLiteTests", dependencies: ["SQLite", "Platform"], path: "Tests/System/SQLiteTests",
            swiftSettings: settings),
        .testTarget(
            name: "ImageHeaderTests", dependencies: ["ImageHeader"], path: "Tests/Pictures/ImageHeaderTests",
            swiftSettings: settings),
        .testTarget(
            name: "CoverSizesTests", dependencies: ["CoverSizes", "CPictures", "ImageHeader", "Platform"],
            path: "Tests/Pictures/CoverSizesTests", swiftSettings: settings),
        .testTarget(
            name: "CoverFetchTests",
            dependencies: [
                "CoverFetch", "CurlHTTP", "ImageHeader", "OriginServer", "Platform", "Wire", httpTypes,
                logging,
            ],
            path: "Tests/Covers/CoverFetchTests", swiftSettings: settings),
        .testTarget(
            name: "CoverCacheTests", dependencies: ["CoverCache", "CoverPack", "Platform", "SQLite"],
            path: "Tests/Covers/CoverCacheTests", swiftSettings: settings),
        .testTarget(
            name: "AlbumLibraryTests", dependencies: ["AlbumLibrary", "SQLite", "Wire", logging],
            path: "Tests/Albums/AlbumLibraryTests", swiftSettings: settings),
        .testTarget(
            name: "MusicFolderTests",
            dependencies: [
                "MusicFolder", "AlbumLibrary", "CommandSupport", "CoverSizes", "CoverSources", "Files", "MusicFiles",
                "Platform", "SQLite",
            ],
            path: "Tests/Music/MusicFolderTests", swiftSettings: settings),
        .testTarget(
            name: "CoverLibraryTests",
            dependencies: [
                "AlbumLibrary", "CoverLibrary", "CoverCache", "CoverFetch", "CoverPack", "CurlHTTP", "HTTPCaching",
                "OriginServer", "Platform", "Wire", httpTypes, logging,
            ],
            path: "Tests/Covers/CoverLibraryTests", swiftSettings: settings),
        .testTarget(
            name: "CoverSourcesTests", dependencies: ["CoverSources", "SQLite", "Wire"],
            path: "Tests/Music/CoverSourcesTests", swiftSettings: settings),
        .testTarget(
            name: "OriginServerTests",
            dependencies: ["OriginServer", "HTTPCaching", "ImageHeader", "Wire", httpTypes],
            path: "Tests/Laboratory/OriginServerTests", swiftSettings: settings),
        .testTarget(
            name: "LinkEmulatorTests", dependencies: ["LinkEmulator", "OriginServer", "Platform", "Wire"],
            path: "Tests/Laboratory/LinkEmulatorTests", swiftSettings: settings),
        .testTarget(
            name: "WebServerTests", dependencies: ["WebServer", "Wire", "Platform", httpTypes],
            path: "Tests/Web/WebServerTests", swiftSettings: settings),
        .testTarget(
            name: "CoverGalleryTests",
            dependencies: [
                "AlbumLibrary", "CoverFetch", "CoverGallery", "CoverLibrary", "CoverSources", "CZlib", "OriginServer",
                "Platform", "Wire",
            ],
            path: "Tests/Web/CoverGalleryTests", swiftSettings: settings),
        // What the tests of the command share: a folder and an origin for each, and the process of a command.
        .target(
            name: "SleeveStage", dependencies: ["CommandSupport", "CoverLibrary", "OriginServer", "Platform", logging],
            path: "Tests/Programs/SleeveStage", exclude: ["Disk/disk.c"], swiftSettings: settings),
        // Three modules, as one would be compiled last and on one core.
        .testTarget(
            name: "sleeveTests",
            dependencies: [
                "sleeve", "sleeve-lab", "SleeveStage", "CommandSupport", "CoverLibrary", "MusicFiles", "OriginServer",
                "Platform", "Wire", argumentParser,
            ],
            path: "Tests/Programs/sleeveTests", exclude: ["Help.txt"], swiftSettings: settings),
        .testTarget(
            name: "sleeveMusicTests",
            dependencies: [
                "sleeve", "SleeveStage", "CoverLibrary", "CoverSources", "ImageHeader", "MusicFiles", "OriginServer",
                "Platform", "Wire", argumentParser,
            ],
            path: "Tests/Programs/sleeveMusicTests", swiftSettings: settings),
        .testTarget(
            name: "sleeveDiskTests", dependencies: ["SleeveStage", "OriginServer", "Platform"],
            path: "Tests/Programs/sleeveDiskTests", swiftSettings: settings),
    ],
    // CTagLib.
    cxxLanguageStandard: .cxx17
)
