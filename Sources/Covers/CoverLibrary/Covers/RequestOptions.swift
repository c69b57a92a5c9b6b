import CurlHTTP

/// The options of a request beside its URL.
struct RequestOptions: Sendable {
    /// As `CoverRequest.line`.
    var line: Int?
    var priority: CoverRequest.Priority?
    var cachePolicy = CoverRequest.CachePolicy.useCache
    /// As `LibraryConfiguration.ignoredParameters`.
    var ignoredParameters: Set<String> = []
    /// What is sent to `fieldsOrigin`, and to no other.
    var headerFields = RequestHeaderFields()
    /// As `CoverRequest.deniesPrivateAddresses`.
    var deniesPrivateAddresses = false
    var fieldsOrigin = ""

    /// A remembered failure counts: of the URL for a request without its own fields, which a server may answer otherwise.
    var usesAbsence: Bool { cachePolicy.usesAbsence && headerFields.isEmpty }
}

extension CoverRequest {
    func options(in configuration: LibraryConfiguration) -> RequestOptions {
        var options = RequestOptions(
            line: line, priority: priority, cachePolicy: cachePolicy,
            ignoredParameters: configuration.ignoredParameters)
        options.deniesPrivateAddresses = deniesPrivateAddresses
        if !headerFields.isEmpty, let url = try? HTTPURL(location) {
            options.headerFields = headerFields
            options.fieldsOrigin = String(url.origin)
        }
        return options
    }
}
