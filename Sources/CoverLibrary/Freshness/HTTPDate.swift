/// Dates as HTTP writes them (RFC 9110 §5.6.7): IMF-fixdate, and the two obsolete forms that must still be understood.
enum HTTPDate {
    /// Seconds since 1970, or nil when `text` is none of the three forms.
    static func seconds(_ text: some StringProtocol) -> Int64? {
        let parts = text.split { " ,-:".contains($0) }
        switch parts.count {
        // Sun, 06 Nov 1994 08:49:37 GMT · Sunday, 06-Nov-94 08:49:37 GMT
        case 8 where parts[7] == "GMT":
            return seconds(year: parts[3], month: parts[2], day: parts[1], time: parts[4...6])
        // Sun Nov  6 08:49:37 1994
        case 7:
            return seconds(year: parts[6], month: parts[1], day: parts[2], time: parts[3...5])
        default: return nil
        }
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func seconds<Text: StringProtocol>(
        year: Text, month: Text, day: Text, time: ArraySlice<Text>
    ) -> Int64? {
        let clock = time.compactMap { Int64($0) }
        guard var year = Int64(year), let day = Int64(day), let month = months.firstIndex(where: { $0 == month }),
            clock.count == 3, (0...9_999).contains(year), (1...31).contains(day), (0..<24).contains(clock[0]),
            (0..<60).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        // Two digits: the century that puts it no more than 50 years ahead (RFC 9110 §5.6.7); good until 2049.
        if year < 100 { year += year < 50 ? 2000 : 1900 }
        // Days from civil: the year begins in March, so that the leap day comes last.
        let shifted = month < 2 ? year - 1 : year
        let dayOfYear = (153 * Int64((month + 10) % 12) + 2) / 5 + day - 1
        let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        return days * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
    }
}
