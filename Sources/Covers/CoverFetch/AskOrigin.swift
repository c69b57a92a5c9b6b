package import CurlHTTP
package import HTTPTypes

/// What a transfer inherits from the task that asked for its cover first.
package struct AskOrigin: Sendable {
    /// The place in a trace, such as `traceparent`. Sent to the origin of the cover's URL only: a tracer may add more than identifiers.
    package var traceFields = HTTPFields()
    /// Nil without a transport of the program's own.
    package var context: TaskContext?

    package init() {}
}
