/// Dates as HTTP writes them (RFC 9110 §5.6.7): IMF-fixdate, and the two obsolete forms that must still be understood.
enum HTTPDate {
    /// Seconds since 1970, or nil when `text` is none of the three forms to the letter; case does not matter in names.
    /// - Parameter now: seconds since 1970, from which a year of two digits is told.
    static func seconds(_ text: some StringProtocol, now: Int64 = WallClock.milliseconds() / 1_000) -> Int64? {
        var form = Form(Array(text.utf8))
        return form.fixdate(now) ?? form.asctime()
    }

    /// The moment as IMF-fixdate. - Parameter seconds: since 1970.
    static func text(_ seconds: Int64) -> String {
        let days = Int64((Double(seconds) / 86_400).rounded(.down)), rest = seconds - days * 86_400
        let (year, month, day) = civil(days)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let weekday = Form.weekdays[Int(((days + 3) % 7 + 7) % 7)].prefix(3)
        let clock = "\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        return "\(weekday), \(two(day)) \(Form.months[Int(month)]) \(year) \(clock) GMT"
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

    /// A reader of the forms, byte by byte.
    private struct Form {
        private static let shortWeekdays = weekdays.map { Array($0.utf8.prefix(3)) }
        private static let longWeekdays = weekdays.map { Array($0.utf8) }
        private static let shortMonths = months.map { Array($0.utf8) }
        static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
        static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

        private let bytes: [UInt8]
        private var place = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// `Sun, 06 Nov 1994 08:49:37 GMT` or `Sunday, 06-Nov-94 08:49:37 GMT`.
        mutating func fixdate(_ now: Int64) -> Int64? {
            place = 0
            let isShort = name(Self.shortWeekdays) != nil && take(", ")
            if !isShort {
                place = 0
                guard name(Self.longWeekdays) != nil, take(", ") else { return nil }
            }
            let between = isShort ? " " : "-"
            guard let day = number(2), take(between), let month = name(Self.shortMonths), take(between),
                var year = number(isShort ? 4 : 2), take(" "), let clock = clock(), take(" GMT"), place == bytes.count
            else { return nil }
            if !isShort {
                // More than 50 years ahead means the century before (§5.6.7).
                let thisYear = HTTPDate.civil(now / 86_400).year
                year += thisYear - thisYear % 100
                if year > thisYear + 50 { year -= 100 }
            }
            return moment(year, month, day, clock)
        }

        /// `Sun Nov  6 08:49:37 1994`.
        mutating func asctime() -> Int64? {
            place = 0
            guard name(Self.shortWeekdays) != nil, take(" "), let month = name(Self.shortMonths),
                take(" "), let day = take(" ") ? number(1) : number(2), take(" "), let clock = clock(), take(" "),
                let year = number(4), place == bytes.count
            else { return nil }
            return moment(year, month, day, clock)
        }

        private func moment(_ year: Int64, _ month: Int, _ day: Int64, _ clock: Int64) -> Int64? {
            (1...31).contains(day) ? HTTPDate.days(year, Int64(month), day) * 86_400 + clock : nil
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
            for byte in bytes[place..<(place + digits)] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            place += digits
            return value
        }

        /// Which of `names` stands here.
        private mutating func name(_ names: [[UInt8]]) -> Int? { names.firstIndex { take($0) } }

        private static func lower(_ byte: UInt8) -> UInt8 {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }

        private mutating func take(_ text: String) -> Bool { take(Array(text.utf8)) }

        private mutating func take(_ wanted: [UInt8]) -> Bool {
            guard place + wanted.count <= bytes.count,
                zip(bytes[place...], wanted).allSatisfy({ Self.lower($0) == Self.lower($1) })
            else { return false }
            place += wanted.count
            return true
        }
    }
}
