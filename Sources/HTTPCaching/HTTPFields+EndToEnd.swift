package import HTTPTypes

extension HTTPFields {
    /// The fields without those of the connection and those that `Connection` lists (RFC 9110 section 7.6.1). A cache neither
    /// forwards nor stores these (RFC 9111 section 3.1).
    package var endToEnd: HTTPFields {
        let listed = self[values: .connection].flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let dropped = Self.hopByHop.union(listed)
        var kept = HTTPFields()
        for field in self where !dropped.contains(field.name.canonicalName) { kept.append(field) }
        return kept
    }

    /// The fields with an added `Via` (RFC 9110 section 7.6.3). - Parameter pseudonym: the name of the forwarding proxy.
    package func via(_ pseudonym: String) -> HTTPFields {
        var fields = self
        fields.append(HTTPField(name: .via, value: "1.1 \(pseudonym)"))
        return fields
    }

    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
        "proxy-authentication-info", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}
