#if os(Linux)
    import SleeveStage
    import Testing

    extension DiskTests {
        @Suite(.serialized) struct StopAtEachCallTests {
            @Test(arguments: Scenario.Kind.allCases)
            func `stopped after any operation on a file while another process is killed, a command loses nothing`(
                kind: Scenario.Kind
            ) async throws {
                try await Scenario.with(kind) { scenario in
                    // Stops, and those in which the other process could run.
                    var (stops, others) = (0, 0)
                    stopping: for number in scenario.places {
                        // The other process has some fifty operations. It is killed at points that differ from stop to stop; nil for none.
                        let first = 1 + number * 7 % 50
                        let kills: [Int?] =
                            isThorough ? [first, first + 17, first + 34, nil] : [stops % 2 == 0 ? nil : first]
                        for otherNumber in kills {
                            guard
                                let attempt = try await scenario.attempt(
                                    stoppedAfter: number, otherKilledBefore: otherNumber)
                            else { break stopping }
                            (stops, others) = (stops + 1, others + (attempt.hasOther ? 1 : 0))
                            let place = "stopped after operation \(number), the other killed before \(otherNumber ?? 0)"
                            #expect(attempt.result.status == 0, "\(place): \(attempt.result)")
                            #expect(attempt.faults.isEmpty, "\(place): \(attempt.faults)")
                        }
                    }
                    print("\(kind): \(stops) stops, \(others) with the other process")
                    #expect(others > 0)
                }
            }
        }
    }
#endif
