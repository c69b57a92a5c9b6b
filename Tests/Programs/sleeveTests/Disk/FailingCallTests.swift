#if os(Linux)
    import Foundation
    import Testing

    extension DiskTests {
        /// Each call on a file of the cache fails, once or from then on.
        @Suite(.serialized) struct FailingCallTests {
            private static let errors = [ENOSPC, EDQUOT, EIO, EROFS, EMFILE, ENFILE, ENOMEM]

            @Test(arguments: Scenario.Kind.allCases)
            func `a failing call is reported, loses nothing, and is forgotten once its cause is gone`(
                kind: Scenario.Kind
            ) async throws {
                try await Scenario.with(kind) { scenario in
                    var attempts = 0
                    for (index, error) in Self.errors.enumerated() {
                        for suffix in ["", ":lasting"] {
                            var number = 1 + index % stride
                            while true {
                                let failure = "\(error):\(number)\(suffix)"
                                let attempt = try await scenario.attempt(["DISK_FAIL": failure])
                                guard let failed = attempt.failed else { break }
                                attempts += 1
                                let name = String(cString: strerror(error))
                                let description =
                                    "\(name)\(suffix) in call \(number) (\(failed.path)): \(attempt.result)"
                                // A disk that takes rows and removes no file leaves files without a row.
                                let faults = attempt.faults.filter { error != EROFS || !$0.hasPrefix("no entry names") }
                                #expect(faults.isEmpty, "\(faults) after \(description)")
                                #expect([0, 1, 3].contains(attempt.result.status), "\(description)")
                                if attempt.result.status != 0 {
                                    #expect(
                                        isNamed(error, by: attempt.result.stderr),
                                        "\(description)")
                                    #expect(
                                        error == EIO || !attempt.result.stderr.contains("--repair"), "\(description)")
                                }
                                let again = try await scenario.again()
                                #expect(again.status == 0, "\(again) after \(description)")
                                number += stride
                            }
                        }
                    }
                    print("\(kind): \(attempts) failing calls")
                    #expect(attempts > 10)
                }
            }

            /// The rows may be deleted for the next process, which reads the whole log, and not for this one.
            @Test func `an eviction whose commit fails leaves no file without a row`() async throws {
                try await Scenario.with(.evict) { scenario in
                    var failedSyncs = 0
                    // The calls before open the cache.
                    for number in 50... {
                        let attempt = try await scenario.attempt(["DISK_FAIL": "\(EIO):\(number)"])
                        guard let failed = attempt.failed else { break }
                        if failed.path.hasSuffix("-wal"), attempt.result.stderr.contains("sync") { failedSyncs += 1 }
                        #expect(attempt.faults.isEmpty, "\(attempt.faults) after \(failed.path): \(attempt.result)")
                    }
                    #expect(failedSyncs > 0)
                }
            }
        }
    }

    /// Whether a message says what failed.
    private func isNamed(_ error: Int32, by message: String) -> Bool {
        // SQLite takes EIO in a read of the index for damage. It opens a file for reading that it cannot open for writing.
        let words = [ENOSPC, EDQUOT].contains(error) ? ["is full"] : ["I/O error", "damaged"]
        return (words + ["may be full", "readonly", String(cString: strerror(error))]).contains {
            message.localizedCaseInsensitiveContains($0)
        }
    }

    /// Every how many calls one fails.
    private let stride = isThorough ? 1 : 37
#endif
