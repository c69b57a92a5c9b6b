package import HTTPTypes

extension HTTPFields {
    /// Whether a request with these fields says who sends it: its response may be for that person alone.
    package var haveCredentials: Bool { contains(.authorization) || contains(.cookie) }
}
