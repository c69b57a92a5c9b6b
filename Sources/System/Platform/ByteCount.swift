/// Formats a number of bytes for messages: `31.4 KiB`, `1.20 GiB`. Without the start-up time of Foundation's formatters.
package struct ByteCount: Sendable, Hashable, CustomStringConvertible {
    package let bytes: Int

    package init(_ bytes: Int) { self.bytes = bytes }

    /// Three digits and a unit; powers of 1024. Whole numbers have no decimal places: `10 GiB`.
    package var description: String {
        var size = Double(bytes)
        var units = ["B", "KiB", "MiB", "GiB", "TiB"][...]
        while size >= 1_000, units.count > 1 {
            size /= 1_024
            units = units.dropFirst()
        }
        if units.startIndex == 0 { return "\(bytes) B" }
        let digits = size == size.rounded() || size >= 100 ? 0 : size < 10 ? 2 : 1
        let scale = [1, 10, 100][digits]
        let scaled = Int((size * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let decimals = digits == 0 ? "" : "." + String(repeating: "0", count: digits - fraction.count) + fraction
        return "\(scaled / scale)\(decimals) \(units.first ?? "")"
    }
}
