import CommandSupport
import Platform

extension URL {
    /// The URL that an option has.
    /// - Parameter option: names the URL in the error message.
    /// - Throws: An exit code, after an error message, if `text` is no URL.
    init(_ text: String, option: String) throws {
        guard let url = URL(string: text) else { throw fail("\(option) needs a URL") }
        self = url
    }
}
