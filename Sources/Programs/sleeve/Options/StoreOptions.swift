import ArgumentParser
import CommandSupport
import CoverLibrary

/// Where downloaded covers are kept, beside the cache directory's name.
struct StoreOptions: ParsableArguments {
    @OptionGroup var room: CapacityOptions
    @OptionGroup var place: TierOptions

    @Flag(help: ArgumentHelp("Read the tier, and put nothing into it.", visibility: .hidden))
    var tierReadOnly = false

    func apply(to configuration: inout LibraryConfiguration) {
        configuration.capacity = room.capacity?.bytes
        configuration.tier = place.resolved
        configuration.isTierReadOnly = tierReadOnly
    }
}
