/// Dates as HTTP writes them (RFC 9110, 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT". Times are seconds since 1970.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    static func text(_ seconds: Int64) -> String {
        let seconds = Int(seconds)
        let day = seconds / 86_400
        let time = seconds % 86_400
        let date = civil(day)
        return
            "\(days[day % 7]), \(two(date.day)) \(months[date.month - 1]) \(date.year) "
            + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    /// The time of a date in the preferred form; nil: it is something else, and a condition with it does not hold.
    static func seconds(_ text: some StringProtocol) -> Int64? {
        let parts = text.split { $0 == " " || $0 == ":" || $0 == "," }
        guard parts.count == 8, parts[7] == "GMT", let month = months.firstIndex(of: String(parts[2])),
            let day = Int(parts[1]), let year = Int(parts[3]), let hour = Int(parts[4]), let minute = Int(parts[5]),
            let second = Int(parts[6]), (1...31).contains(day), (1970...9999).contains(year), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return Int64((daysSince1970(year, month + 1, day) * 24 + hour) * 3600 + minute * 60 + second)
    }

    private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

    /// Days before a date. Years begin in March here, so that the leap day is the last of its year.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    /// The inverse, for days from 1970 on: the year is guessed from the mean length and corrected.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        var year = 1970 + Int(Double(day) / 365.2425)
        while daysSince1970(year, 1, 1) > day { year -= 1 }
        while daysSince1970(year + 1, 1, 1) <= day { year += 1 }
        var month = 12
        while daysSince1970(year, month, 1) > day { month -= 1 }
        return (year, month, day - daysSince1970(year, month, 1) + 1)
    }
}
