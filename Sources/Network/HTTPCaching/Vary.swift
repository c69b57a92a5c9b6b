/// `Vary`: the fields of a request by which its server has chosen the response (RFC 9111 section 4.1).
package enum Vary {
    /// The names in the values of a response's `Vary`, in lower case; `*` stands for all.
    package static func names(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            .filter { !$0.isEmpty }
    }
}
