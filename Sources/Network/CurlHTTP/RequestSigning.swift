import CCurl

/// AWS Signature Version 4, as servers of S3's interface require it.
package struct RequestSigning: Sendable, CustomStringConvertible, CustomReflectable {
    fileprivate let keyID: String
    fileprivate let secret: String
    /// Region and service, such as `eu-central-1:s3`.
    private let scope: String

    package init(keyID: String, secret: String, region: String, service: String) {
        (self.keyID, self.secret, scope) = (keyID, secret, "\(region):\(service)")
    }

    /// The scope, without key and secret. So is the mirror.
    package var description: String { "signing for \(scope)" }
    package var customMirror: Mirror { Mirror(self, children: ["scope": scope]) }

    fileprivate var option: String { "aws:amz:\(scope)" }
}

extension Transfer {
    /// - Returns: false if this libcurl cannot sign.
    func setSigning() -> Bool {
        guard let signing = configuration.signing else { return true }
        // The secret is a password to libcurl, which would send it without the first option.
        return sleeve_setopt_string(easy, CURLOPT_AWS_SIGV4, signing.option) == CURLE_OK
            && sleeve_setopt_string(easy, CURLOPT_USERNAME, signing.keyID) == CURLE_OK
            && sleeve_setopt_string(easy, CURLOPT_PASSWORD, signing.secret) == CURLE_OK
    }
}
