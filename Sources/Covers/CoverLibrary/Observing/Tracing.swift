import CoverFetch
import HTTPTypes
import Platform

#if Tracing
    import Tracing

    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey name: String, into fields: inout HTTPFields) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
    }
#endif

/// Runs `body` in a span of the program's tracer (swift-distributed-tracing); without the trait `Tracing`, in none.
/// - Parameters:
///   - url: an attribute of the span, with its credentials redacted; nil for none.
///   - isClient: the span is that of a request to a server.
///   - status: the HTTP status of a success; nil for none. That of a `CoverFailure` is known.
func traced<Value, Failure: Error>(
    _ name: String, url: String? = nil, isClient: Bool = false, status: (Value) -> Int? = { _ in nil },
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    #if Tracing
        return try await withSpan(name, ofKind: isClient ? .client : .internal) { span -> Result<Value, Failure> in
            if let url { span.attributes["url.full"] = Redaction.redact(url) }
            do throws(Failure) {
                let value = try await body()
                if let status = status(value) { span.attributes["http.response.status_code"] = status }
                return .success(value)
            } catch {
                let failure = error as? CoverFailure
                if let status = failure?.status { span.attributes["http.response.status_code"] = status }
                span.recordError(error)
                span.setStatus(SpanStatus(code: .error, message: failure?.kind.rawValue))
                return .failure(error)
            }
        }.get()
    #else
        return try await body()
    #endif
}

/// The place of the current task in a trace, as header fields such as `traceparent`.
func traceFields() -> HTTPFields {
    var fields = HTTPFields()
    #if Tracing
        if let context = ServiceContext.current {
            InstrumentationSystem.instrument.inject(context, into: &fields, using: FieldInjector())
        }
    #endif
    return fields
}

extension CoverOutcome {
    /// The HTTP status of the response that brought or confirmed the cover; nil without one of its own.
    var responseStatus: Int? {
        switch kind {
        case .downloaded where !isJoined: 200
        case .revalidated: 304
        default: nil
        }
    }
}
