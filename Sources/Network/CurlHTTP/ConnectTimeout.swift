/// The time-out of a transfer's connection, in which its look-up may have a longer part.
///
/// libcurl has one time-out for look-up and connection, and reads it whenever it checks: often during a look-up; while it connects, when
/// something happens, and at the time-out that was set when the transfer began.
struct ConnectTimeout {
    private let usual: Duration
    private let lookUp: Duration
    /// When the look-up of the name began; nil if none is in progress.
    private var begun: ContinuousClock.Instant?
    /// What libcurl is to have now.
    private(set) var current: Duration

    init(_ configuration: HTTPClientConfiguration) {
        usual = configuration.connectTimeout
        lookUp = max(configuration.connectTimeout, configuration.lookUpTimeout)
        current = usual
    }

    /// Another transfer begins.
    mutating func reset() { (begun, current) = (nil, usual) }

    mutating func beginLookUp(at now: ContinuousClock.Instant) { (begun, current) = (now, lookUp) }

    /// Does nothing if no look-up is in progress.
    mutating func endLookUp(at now: ContinuousClock.Instant) {
        guard let begun = begun.take() else { return }
        let elapsed = now - begun
        let isSlow = elapsed * 2 > usual
        current = usual + (isSlow ? elapsed : .zero)
    }
}
