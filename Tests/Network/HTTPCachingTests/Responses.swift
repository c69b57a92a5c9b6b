import HTTPTypes

@testable import HTTPCaching

/// 2024-01-01 00:00:00 GMT, in seconds.
let dawn: Int64 = 1_704_067_200

/// A response whose request was sent at dawn and that arrived at once. Times are in seconds after dawn.
func response(_ fields: HTTPFields, status: Int = 200, sent: Int64 = 0, arrived: Int64 = 0) -> StoredResponse {
    StoredResponse(
        status: status, fields: fields, requestTime: (dawn + sent) * 1_000, responseTime: (dawn + arrived) * 1_000)
}

func date(_ seconds: Int64) -> String { HTTPDate.text(dawn + seconds) }
func at(_ seconds: Int64) -> Int64 { (dawn + seconds) * 1_000 }
