import CoverFetch
import Platform

#if Tracing
    import Tracing
#endif

/// Runs `body` in a span of the program's tracer (swift-distributed-tracing); without the trait `Tracing`, in none.
/// - Parameters:
///   - url: an attribute of the span, with its credentials redacted; nil for none.
///   - isClient: the span is that of a request to a server.
func traced<Value, Failure: Error>(
    _ name: String, url: String? = nil, isClient: Bool = false, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    #if Tracing
        return try await withSpan(name, ofKind: isClient ? .client : .internal) { span -> Result<Value, Failure> in
            if let url { span.attributes["url.full"] = Redaction.redact(url) }
            do throws(Failure) {
                return .success(try await body())
            } catch {
                span.recordError(error)
                span.setStatus(SpanStatus(code: .error, message: (error as? CoverFailure)?.kind.rawValue))
                return .failure(error)
            }
        }.get()
    #else
        return try await body()
    #endif
}
