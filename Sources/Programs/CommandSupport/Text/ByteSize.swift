import ArgumentParser
import Platform

/// A number of bytes as an option gives it: `500M`, `1.5 GiB`, `20000`. K, M, G and T are powers of 1024.
package struct ByteSize: ExpressibleByArgument, Equatable, CustomStringConvertible {
    package var bytes: Int

    package init(_ bytes: Int) { self.bytes = bytes }

    package init?(argument: String) {
        let text = argument.lowercased().filter { $0 != " " }
        let digits = text.prefix { $0.isNumber || $0 == "." }
        let powers = ["": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4]
        var unit = text.dropFirst(digits.count)
        if unit.hasSuffix("ib") {
            unit = unit.dropLast(2)
        } else if unit.count == 2, unit.hasSuffix("b") {
            unit = unit.dropLast()
        }
        guard let number = Double(digits), let power = powers[String(unit)] else { return nil }
        let size = (0..<power).reduce(number) { size, _ in size * 1_024 }
        guard size >= 0, size < 9e18 else { return nil }
        bytes = Int(size)
    }

    /// - Parameter option: whose value this is.
    /// - Throws: `ValidationError` if no cover fits into a cache of this size.
    package func requireRoom(_ option: String) throws {
        guard bytes >= 4_096 else {
            throw ValidationError("\(option) must be at least 4K; a number without K, M, G or T is in bytes")
        }
    }

    /// Three digits and a unit: `31.4 KiB`, `10 GiB`.
    package var description: String { ByteCount(bytes).description }
}
