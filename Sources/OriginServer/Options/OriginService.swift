package import HTTPTypes

/// What answers an origin's requests in place of its own resources, such as an imitation of a web service.
package struct OriginService: Sendable {
    package struct Answer: Sendable {
        package var status: Int
        package var fields: HTTPFields
        package var body: [UInt8]
        /// The delay before the first byte.
        package var delay: Duration

        package init(_ status: Int, _ fields: HTTPFields = [:], body: [UInt8] = [], delay: Duration = .zero) {
            (self.status, self.fields, self.body, self.delay) = (status, fields, body, delay)
        }
    }

    /// Called with each request, on any thread.
    let respond: @Sendable (HTTPRequest) -> Answer
    /// Called when the response is sent, or the client has gone.
    let didEnd: @Sendable (HTTPRequest) -> Void

    package init(
        respond: @escaping @Sendable (HTTPRequest) -> Answer,
        didEnd: @escaping @Sendable (HTTPRequest) -> Void = { _ in }
    ) {
        (self.respond, self.didEnd) = (respond, didEnd)
    }
}
