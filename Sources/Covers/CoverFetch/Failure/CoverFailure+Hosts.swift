/// What a failure says of hosts.
extension CoverFailure {
    /// Host and port that failed; nil if it is another one than that of `url`: a redirect's target, or the host of an alternative URL.
    public var failedHost: String? { isElsewhere || host.isEmpty ? nil : host }
}
