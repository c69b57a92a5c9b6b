#if os(Linux)
    import Testing

    extension DiskTests {
        @Suite(.serialized) struct StopAtEachCallTests {
            @Test(arguments: Scenario.Kind.allCases)
            func `stopped after any operation on a file while another process is killed, a command loses nothing`(
                kind: Scenario.Kind
            ) async throws {
                try await Scenario.with(kind) { scenario in
                    // After every operation, or every fifth. The other process has some fifty.
                    let stride = isThorough ? 1 : 5
                    var stops = 0
                    stopping: for number in Swift.stride(from: 1 + kind.rawValue.count % stride, to: .max, by: stride) {
                        // Kills at points that differ from stop to stop; nil for none.
                        let first = 1 + number * 7 % 50
                        let others: [Int?] =
                            isThorough ? [first, first + 17, first + 34, nil] : [stops % 2 == 0 ? nil : first]
                        for otherNumber in others {
                            guard
                                let attempt = try await scenario.attempt(
                                    stoppedAfter: number, otherKilledBefore: otherNumber)
                            else { break stopping }
                            stops += 1
                            let place = "stopped after operation \(number), the other killed before \(otherNumber ?? 0)"
                            #expect(attempt.result.status == 0, "\(place): \(attempt.result)")
                            #expect(attempt.faults.isEmpty, "\(place): \(attempt.faults)")
                        }
                    }
                    print("\(kind): \(stops) stops")
                    #expect(stops > 0)
                }
            }
        }
    }
#endif
