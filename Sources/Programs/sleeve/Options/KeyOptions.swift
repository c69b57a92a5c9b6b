import ArgumentParser
import CoverLibrary

/// Which URLs are one cover: for commands that read lists, or look covers up by the URLs of the library.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Query parameters that do not tell covers apart, separated by commas, such as those of a signature: they are sent, not kept.",
            valueName: "names", visibility: .hidden))
    var keyIgnores: String?

    private var names: [String] {
        keyIgnores?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    func validate() throws {
        guard names.allSatisfy({ !$0.isEmpty && !$0.contains(where: "=&?#".contains) }) else {
            throw ValidationError("--key-ignores needs names of query parameters, such as expires,signature")
        }
    }

    func apply(to configuration: inout LibraryConfiguration) { configuration.ignoredParameters = Set(names) }
}
