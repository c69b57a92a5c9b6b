/// What a failure says of hosts.
extension CoverFailure {
    /// Host and port that failed; nil if it is another one than that of `url`: a redirect's target, or the host of an alternative URL.
    public var failedHost: String? { isElsewhere || host.isEmpty ? nil : host }

    /// A later request may succeed: the network or the server failed for a moment, or the host is left alone for a while.
    public var isRetryable: Bool { isTemporary }
}
