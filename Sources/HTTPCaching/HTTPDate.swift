#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Dates as HTTP writes them (RFC 9110 §5.6.7): IMF-fixdate, and the two obsolete forms that must still be understood.
package enum HTTPDate {
    /// Seconds since 1970, or nil when `text` is none of the three forms to the letter; case does not matter in names.
    /// - Parameter now: seconds since 1970, from which a year of two digits is told.
    package static func seconds(_ text: String, now: @autoclosure () -> Int64 = Int64(time(nil))) -> Int64? {
        text.withBytes { seconds($0, now: now()) }
    }

    package static func seconds(_ text: Bytes, now: @autoclosure () -> Int64 = Int64(time(nil))) -> Int64? {
        var form = Form(text)
        return form.fixdate() ?? form.rfc850(now) ?? form.asctime()
    }

    /// The moment as IMF-fixdate. - Parameter seconds: since 1970.
    package static func text(_ seconds: Int64) -> String {
        let days = Int64((Double(seconds) / 86_400).rounded(.down)), rest = seconds - days * 86_400
        let (year, month, day) = civil(days)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let weekday = weekdays[Int(((days + 3) % 7 + 7) % 7)].prefix(3)
        let clock = "\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        return "\(weekday), \(two(day)) \(months[Int(month)]) \(year) \(clock) GMT"
    }

    /// Days since 1970 of a day of the Gregorian calendar, and back (Hinnant, "chrono-Compatible Low-Level Date Algorithms",
    /// 2013). The year begins in March, so that the leap day comes last. - Parameter month: from 0.
    fileprivate static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month < 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 10) % 12) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    fileprivate static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468, era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = (march + 2) % 12
        return (yearOfEra + era * 400 + (month < 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    private static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A reader of the forms, byte by byte.
    private struct Form {
        private let bytes: Bytes
        private var place = 0

        init(_ bytes: Bytes) { self.bytes = bytes }

        /// `Sun, 06 Nov 1994 08:49:37 GMT`.
        mutating func fixdate() -> Int64? {
            place = 0
            guard weekday(), take(","), take(" "), let day = number(2), take(" "), let month = month(), take(" "),
                let year = number(4), take(" "), let clock = clock(), takeWord(" gmt"), isAtEnd
            else { return nil }
            return moment(year, month, day, clock)
        }

        /// `Sunday, 06-Nov-94 08:49:37 GMT`.
        mutating func rfc850(_ now: () -> Int64) -> Int64? {
            place = 0
            guard longWeekday(), take(","), take(" "), let day = number(2), take("-"), let month = month(), take("-"),
                var year = number(2), take(" "), let clock = clock(), takeWord(" gmt"), isAtEnd
            else { return nil }
            // More than 50 years ahead means the century before (§5.6.7).
            let thisYear = HTTPDate.civil(now() / 86_400).year
            year += thisYear - thisYear % 100
            if year > thisYear + 50 { year -= 100 }
            return moment(year, month, day, clock)
        }

        /// `Sun Nov  6 08:49:37 1994`.
        mutating func asctime() -> Int64? {
            place = 0
            guard weekday(), take(" "), let month = month(), take(" "),
                let day = take(" ") ? number(1) : number(2), take(" "), let clock = clock(), take(" "),
                let year = number(4), isAtEnd
            else { return nil }
            return moment(year, month, day, clock)
        }

        private var isAtEnd: Bool { place == bytes.count }

        private func moment(_ year: Int64, _ month: Int64, _ day: Int64, _ clock: Int64) -> Int64? {
            (1...31).contains(day) ? HTTPDate.days(year, month, day) * 86_400 + clock : nil
        }

        /// `08:49:37`, in seconds.
        private mutating func clock() -> Int64? {
            guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
                hour < 24, minute < 60, second <= 60
            else { return nil }
            return hour * 3_600 + minute * 60 + second
        }

        private mutating func number(_ digits: Int) -> Int64? {
            guard place + digits <= bytes.count else { return nil }
            var value: Int64 = 0
            for index in place..<(place + digits) {
                let digit = bytes[index] &- UInt8(ascii: "0")
                if digit > 9 { return nil }
                value = value * 10 + Int64(digit)
            }
            place += digits
            return value
        }

        private mutating func weekday() -> Bool { triple(of: "montuewedthufrisatsun") != nil }
        private mutating func month() -> Int64? { triple(of: "janfebmaraprmayjunjulaugsepoctnovdec") }

        private mutating func longWeekday() -> Bool {
            takeWord("monday") || takeWord("tuesday") || takeWord("wednesday") || takeWord("thursday")
                || takeWord("friday")
                || takeWord("saturday") || takeWord("sunday")
        }

        /// Which of the names stands here, which are three lower-case letters each.
        private mutating func triple(of names: StaticString) -> Int64? {
            guard place + 3 <= bytes.count else { return nil }
            // The bit that tells capitals from small letters makes a letter of nothing else.
            let (first, second, third) = (bytes[place] | 0x20, bytes[place + 1] | 0x20, bytes[place + 2] | 0x20)
            var start = 0
            while start < names.utf8CodeUnitCount {
                let name = names.utf8Start + start
                if name[0] == first, name[1] == second, name[2] == third {
                    place += 3
                    return Int64(start / 3)
                }
                start += 3
            }
            return nil
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
            place += 1
            return true
        }

        /// - Parameter text: in lower case.
        private mutating func takeWord(_ text: StaticString) -> Bool {
            guard bytes.starts(with: text, at: place) else { return false }
            place += text.utf8CodeUnitCount
            return true
        }
    }
}
