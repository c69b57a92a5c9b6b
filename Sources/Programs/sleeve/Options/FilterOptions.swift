import ArgumentParser
import CoverLibrary

/// Selects cached covers by their URLs.
struct FilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Covers of this host, such as covers.example.org or 127.0.0.1:8731.", valueName: "host"))
    var host: String?

    @Option(
        help: ArgumentHelp("Covers whose URL matches: * matches any text, ? any character.", valueName: "pattern"))
    var matching: String?

    var isEmpty: Bool { host == nil && matching == nil }
    var filter: CoverFilter { CoverFilter(host: host, pattern: matching) }

    func validate() throws {
        if host?.isEmpty == true { throw ValidationError("--host needs a host, such as covers.example.org") }
        if matching?.isEmpty == true { throw ValidationError("--matching needs a pattern, such as '*/front.jpg'") }
    }
}
