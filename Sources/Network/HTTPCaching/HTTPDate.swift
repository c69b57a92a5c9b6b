package import HTTPTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// HTTP dates (RFC 9110 section 5.6.7): IMF-fixdate, and the two obsolete formats that recipients must accept. Times are in
/// seconds since 1970.
package enum HTTPDate {
    /// The time of a date in one of the three formats. Nil for anything else. Names match in any case.
    /// - Parameter now: decides the century of a two-digit year.
    package static func seconds(_ text: String, now: @autoclosure () -> Int64 = Int64(time(nil))) -> Int64? {
        text.withBytes { text in
            let day = text[to: text.firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") } ?? 0]
            let rest = text[from: day.count]
            if weekdays.contains(where: { day.equalsIgnoringCase($0.short) }) {
                return seconds(rest, ", DD NNN YYYY HH:MM:SS gmt", now) ?? seconds(rest, " NNN _D HH:MM:SS YYYY", now)
            }
            guard weekdays.contains(where: { day.equalsIgnoringCase($0.long) }) else { return nil }
            return seconds(rest, ", DD-NNN-YY HH:MM:SS gmt", now)
        }
    }

    /// The time of a date and time of ISO 8601 in UTC, with or without separators, or of a date alone. Nil for anything else.
    package static func seconds(ofISO8601 text: String) -> Int64? {
        text.withBytes { text in
            seconds(text, "YYYY-OO-DDtHH:MM:SSz", { 0 }) ?? seconds(text, "YYYYOODDtHHMMSSz", { 0 })
                ?? seconds(text, "YYYY-OO-DD", { 0 })
        }
    }

    /// - Parameter pattern: a capital letter stands for a digit, `OO` for the number of a month, `NNN` for its name, `_` for a digit or a space. Every
    ///   other character stands for itself, in any case.
    private static func seconds(_ text: Bytes, _ pattern: StaticString, _ now: () -> Int64) -> Int64? {
        guard text.count == pattern.utf8CodeUnitCount else { return nil }
        var (year, yearDigits, month, day) = (Int64(0), 0, Int64(0), Int64(0))
        var (hour, minute, second) = (Int64(0), Int64(0), Int64(0))
        var (index, isNumbered) = (0, false)
        while index < text.count {
            let byte = text[index], symbol = UnicodeScalar(pattern.utf8Start[index])
            let digit = Int64(byte) - Int64(UInt8(ascii: "0"))
            switch symbol {
            case "N":
                let name = text[from: index][to: 3]
                guard let number = months.firstIndex(where: { name.equalsIgnoringCase($0) }) else { return nil }
                month = Int64(number)
                index += 2
            case "_" where byte == UInt8(ascii: " "): break
            case "Y", "O", "D", "_", "H", "M", "S":
                guard (0...9).contains(digit) else { return nil }
                switch symbol {
                case "Y": (year, yearDigits) = (year * 10 + digit, yearDigits + 1)
                case "O": (month, isNumbered) = (month * 10 + digit, true)
                case "H": hour = hour * 10 + digit
                case "M": minute = minute * 10 + digit
                case "S": second = second * 10 + digit
                default: day = day * 10 + digit
                }
            default: guard Bytes.lowercased(byte) == UInt8(ascii: symbol) else { return nil }
            }
            index += 1
        }
        if isNumbered { month -= 1 }
        guard (0..<12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60 else { return nil }
        if yearDigits == 2 {
            // A date more than 50 years ahead means the century before.
            let thisYear = civil(now() / 86_400).year
            year += thisYear - thisYear % 100
            if year > thisYear + 50 { year -= 100 }
        }
        return days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// The time as IMF-fixdate.
    package static func text(_ seconds: Int64) -> String {
        let days = Int64((Double(seconds) / 86_400).rounded(.down)), rest = seconds - days * 86_400
        let (year, month, day) = civil(days)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let weekday = weekdays[Int(((days + 3) % 7 + 7) % 7)].short
        let clock = "\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        return "\(weekday), \(two(day)) \(months[Int(month)]) \(year) \(clock) GMT"
    }

    /// Days since 1970 of a day of the Gregorian calendar (Hinnant, "chrono-Compatible Low-Level Date Algorithms", 2013).
    /// The year begins in March, so that the leap day is its last. - Parameter month: from 0.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month < 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 10) % 12) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    /// The inverse of `days`.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468, era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = (march + 2) % 12
        return (yearOfEra + era * 400 + (month < 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    private static let weekdays: [(short: StaticString, long: StaticString)] = [
        ("Mon", "Monday"), ("Tue", "Tuesday"), ("Wed", "Wednesday"), ("Thu", "Thursday"), ("Fri", "Friday"),
        ("Sat", "Saturday"), ("Sun", "Sunday"),
    ]
    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// `Retry-After` (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// In seconds. Longer delays, however far their dates or large their numbers are, count as this.
    private static let maximum: Int64 = 86_400 * 365

    /// The delay a response asks for, from now: 0 s to a year. Of several field lines the longest delay counts. Nil if the field
    /// is missing or invalid.
    ///
    /// A date in it is by the server's clock, which `Date` and `Age` tell: the clocks of the two machines may differ.
    /// - Parameter now: by this machine's clock, for a response without a `Date`. Seconds since 1970.
    package static func delay(_ fields: HTTPFields, now: Int64) -> Duration? {
        let age = fields.text(.age).flatMap { $0.withBytes { CacheDirectives.seconds($0) } } ?? 0
        let now = fields.text(.date).flatMap { HTTPDate.seconds($0, now: now) }.map { $0 + age } ?? now
        // libcurl's lines arrive joined by commas, which dates contain, too.
        let delays: [Int64] = fields[values: .retryAfter].flatMap { value -> [Substring] in
            [Substring(value)] + value.split(separator: ",")
        }
        .compactMap { seconds(String($0.drop { $0 == " " }), now) }
        return delays.max().map { .seconds($0) }
    }

    private static func seconds(_ text: String, _ now: Int64) -> Int64? {
        if let seconds = text.withBytes({ CacheDirectives.seconds($0) }) { return min(seconds, maximum) }
        return HTTPDate.seconds(text, now: now).map { min(max(0, $0 - now), maximum) }
    }
}
