package import HTTPTypes

/// Fields that a message keeps from one end to the other.
extension HTTPFields {
    /// Without those of the connection alone (RFC 9110 §7.6.1), among them what `Connection` lists. They are neither handed
    /// on nor stored (RFC 9111 §3.1).
    package var endToEnd: HTTPFields {
        let listed = self[values: .connection].flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let dropped = Self.hopByHop.union(listed)
        var kept = HTTPFields()
        for field in self where !dropped.contains(field.name.canonicalName) { kept.append(field) }
        return kept
    }

    /// Takes down that the message has passed here (RFC 9110 §7.6.3).
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
