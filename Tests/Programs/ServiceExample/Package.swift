// swift-tools-version: 6.2
import PackageDescription

// A server program that uses CoverLibrary with all of its traits, as a package of its own.
let package = Package(
    name: "ServiceExample",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sleeve", path: "../../..", traits: ["Metrics", "Tracing", "ServiceLifecycle"]),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "ServiceExample",
            dependencies: [
                .product(name: "CoverLibrary", package: "sleeve"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "CoverService",
            dependencies: [
                .product(name: "CoverLibrary", package: "sleeve"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .testTarget(
            name: "CoverServiceTests",
            dependencies: [
                "CoverService",
                .product(name: "CoverLibrary", package: "sleeve"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .testTarget(
            name: "ServiceExampleTests",
            dependencies: [
                "ServiceExample",
                .product(name: "CoverLibrary", package: "sleeve"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]),
    ]
)
