#if os(Linux)
    import Foundation
    import SleeveStage
    import Testing

    extension DiskTests {
        @Suite(.serialized) struct KillAtEachCallTests {
            @Test(arguments: Scenario.Kind.allCases)
            func `killed before any operation on a file, a command loses nothing, and runs again`(kind: Scenario.Kind)
                async throws
            {
                try await Scenario.with(kind) { scenario in
                    var kills = 0
                    for number in scenario.places {
                        let attempt = try await scenario.attempt(["DISK_KILL": "\(number)"])
                        #expect(attempt.faults.isEmpty, "killed before operation \(number): \(attempt.faults)")
                        if attempt.result.signal == nil { break }
                        #expect(attempt.result.signal == SIGKILL)
                        kills += 1
                        let again = try await scenario.again()
                        #expect(again.status == 0, "after a kill before operation \(number): \(again)")
                        if kind == .evict {
                            // Nothing leaks.
                            #expect(scenario.allocatedBytes() <= 40_000, "killed before operation \(number)")
                        }
                    }
                    print("\(kind): \(kills) kills")
                    #expect(kills > 0)
                }
            }
        }
    }
#endif
