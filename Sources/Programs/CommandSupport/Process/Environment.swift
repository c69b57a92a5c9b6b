import Platform

/// The environment variables of the process.
package enum Environment {
    /// The value of a variable; nil if it is unset or empty.
    package static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The cache directory without `--cache`; nil if no variable is set.
    package static var cacheDirectory: String? { path("SLEEVE_CACHE", "XDG_CACHE_HOME", ".cache", "sleeve") }

    /// The library file without `--library`; nil if no variable is set.
    package static var libraryFile: String? {
        path("SLEEVE_LIBRARY", "XDG_DATA_HOME", ".local/share", "sleeve/albums.json")
    }

    /// Where requests to services with a rate are counted, for all libraries of the user; nil if no variable is set.
    package static var requestsFile: String? {
        path("SLEEVE_REQUESTS", "XDG_STATE_HOME", ".local/state", "sleeve/requests.sqlite3")
    }

    /// The value of `variable`, else `name` in a base directory of the XDG specification; nil if no variable is set.
    private static func path(_ variable: String, _ base: String, _ underHome: String, _ name: String) -> String? {
        if let path = value(variable) { return path }
        // The XDG specification requires ignoring relative paths.
        if let folder = value(base), folder.hasPrefix("/") { return "\(folder)/\(name)" }
        return value("HOME").map { "\($0)/\(underHome)/\(name)" }
    }
}
