import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

/// What servers get beside Sleeve's own header fields: for the commands that ask about URLs which their user names.
///
/// Messages show no values. No other process gets them: every user of the machine sees its arguments.
struct HeaderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send this header field to the server of each URL, not to where it redirects; @FILE has one a line, which hides them from other users.",
            valueName: "name: value", visibility: .hidden))
    var header: [String] = []

    func validate() throws {
        for line in header where !line.hasPrefix("@") {
            do throws(RequestHeaderFields.Problem) {
                _ = try RequestHeaderFields().adding(line)
            } catch {
                throw ValidationError("--header cannot be used: \(error)")
            }
        }
    }

    /// - Throws: An exit code, after an error message, if a file cannot be read or has a line that is no field.
    func fields() throws -> RequestHeaderFields {
        var fields = RequestHeaderFields()
        for word in header {
            let file = word.hasPrefix("@") ? String(word.dropFirst()) : nil
            let lines = try file.map { try self.lines(of: $0) } ?? [word]
            for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
                do throws(RequestHeaderFields.Problem) {
                    fields = try fields.adding(line)
                } catch {
                    throw fail("\(file ?? "--header"):\(index + 1): \(error)", .validationFailure)
                }
            }
        }
        return fields
    }

    private func lines(of file: String) throws -> [String] {
        let isReadable = access(file, R_OK) == 0
        guard isReadable, let data = FileManager.default.contents(atPath: file) else {
            let reason = isReadable ? "it is no file" : SystemError("access").reason
            throw fail("cannot read the header fields of --header in \(file): \(reason)")
        }
        let text = String(decoding: data, as: UTF8.self)
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }
}
