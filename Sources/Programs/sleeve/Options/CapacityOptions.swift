import ArgumentParser
import CommandSupport
import CoverLibrary

/// How large the cache may become.
struct CapacityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The most that the cache may take on disk, which it remembers. (default: as remembered, at first 10G)",
            valueName: "size"))
    var capacity: ByteSize?

    func validate() throws { try capacity?.requireRoom("--capacity") }

    func apply(to configuration: inout LibraryConfiguration) { configuration.capacity = capacity?.bytes }
}
