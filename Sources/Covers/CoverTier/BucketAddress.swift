import CurlHTTP

/// Where a bucket's objects are: `s3://BUCKET/PREFIX` on the server that the environment names, as for AWS's own programs.
struct BucketAddress: Sendable {
    /// The prefix as a URL, without a slash at its end.
    let url: String
    let region: String

    /// - Parameter environment: the value of a variable; nil if it is not set.
    /// - Throws: `TierError.refused`.
    init(_ text: String, environment: (String) -> String?) throws(TierError) {
        var text = text[...]
        while text.last == "/" { text.removeLast() }
        let path = text.dropFirst("s3://".count)
        guard text.hasPrefix("s3://"), Self.isPath(path) else {
            throw .refused("it is not s3://BUCKET/PREFIX in letters, digits, '-', '.', '_' and '~'")
        }
        region = environment("AWS_REGION") ?? environment("AWS_DEFAULT_REGION") ?? "us-east-1"
        let bucket = path.prefix { $0 != "/" }
        let variable = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"].first { environment($0) != nil }
        if let endpoint = variable.flatMap(environment) {
            url = endpoint + (endpoint.hasSuffix("/") ? "" : "/") + path
        } else if bucket.allSatisfy({ $0.isLowercase || $0.isNumber || $0 == "-" }) {
            url = "https://\(bucket).s3.\(region).amazonaws.com\(path.dropFirst(bucket.count))"
        } else {
            // The server's certificate is for one more name only.
            url = "https://s3.\(region).amazonaws.com/\(path)"
        }
        guard let target = try? HTTPURL(url + "/v1").target, Self.isPath(target.dropFirst()), Self.isPath(region[...])
        else {
            let name = variable ?? "AWS_ENDPOINT_URL"
            throw .refused("\(name) is no http or https URL without a query, or AWS_REGION no region")
        }
    }

    /// Whether it has names of bytes that every libcurl signs as servers expect it, and no dot segments.
    private static func isPath(_ text: Substring) -> Bool {
        text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { name in
            !name.isEmpty && name != "." && name != ".."
                && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
        }
    }
}
