import CoverFetch
import CurlHTTP
import HTTPTypes
import Platform

extension LibraryConfiguration {
    private var clientConfiguration: HTTPClientConfiguration {
        var http = HTTPClientConfiguration(userAgent: userAgent)
        http.timeout = timeout
        http.maximumBodySize = maximumSize
        http.certificateAuthorities = certificateAuthorities?.relativePath
        http.certificateDirectory = certificateDirectory?.relativePath
        http.deniesPrivateAddresses = deniesPrivateAddresses
        http.addressFamily = addressFamily.map { $0 == .ipv4 ? .v4 : .v6 }
        http.isHTTP1 = !allowsHTTP2
        http.maximumConnections = max(affordableParallel, 16)
        return http
    }

    /// - Throws: `LibraryError` if the process has no descriptor left.
    func makeClient() throws(LibraryError) -> HTTPClient {
        let adapter = transport.map {
            TransportAdapter(transport: $0, userAgent: userAgent, maximumSize: maximumSize)
        }
        do throws(SystemError) {
            return try HTTPClient(configuration: clientConfiguration, transport: adapter.map { $0.response })
        } catch {
            throw .networkUnavailable("\(error); \(DescriptorLimit.advice)")
        }
    }

    /// `parallel`, or as many transfers as the process has descriptors for. Each has a connection, a file, and its share of what looks names up;
    /// the cache and the network have about 40.
    private var affordableParallel: Int {
        DescriptorLimit.current.map { min(parallel, max(1, ($0 - 40) / 3)) } ?? parallel
    }

    /// How the scheduler limits, retries and follows redirects.
    var policy: FetchPolicy {
        let limits = FetchLimits(
            parallel: affordableParallel, perHost: perHost, interval: rate.map(Self.interval), adapts: adapts)
        return FetchPolicy(
            limits: limits, retry: RetryPolicy(retries: retries),
            redirect: redirectPolicy, headerFields: fieldsByOrigin)
    }

    var redirectPolicy: RedirectPolicy { RedirectPolicy(allowsDowngrades: allowsDowngrades) }

    /// The header fields of each origin, normalised as `HTTPURL.origin`.
    var fieldsByOrigin: [String: HTTPFields] {
        headerFields.reduce(into: [:]) { fields, entry in
            if let origin = Self.origin(entry.key) { fields[origin] = entry.value.fields }
        }
    }

    /// The normalised origin of a text such as `https://example.org`; nil if it is none.
    static func origin(_ text: String) -> String? {
        guard let url = try? HTTPURL(text), url.target == "/" else { return nil }
        return String(url.origin)
    }

    /// The time between two requests at a rate; at most 30 years, which a `Duration` can hold.
    private static func interval(_ rate: Double) -> Duration { .seconds(min(1 / rate, 1e9)) }
}
