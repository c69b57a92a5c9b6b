#if os(Linux)
    import Foundation
    import SleeveStage
    import Synchronization
    import Testing

    extension DiskTests {
        /// Each call on a file of the cache fails, once or from then on.
        @Suite(.serialized) struct FailingCallTests {
            /// One of each class: no room, a bad disk, a disk that is read-only, too few of something. In a long run also those whose
            /// causes and effects are another's of their class.
            private static let errors = [ENOSPC, EIO, EROFS, EMFILE] + (isThorough ? [EDQUOT, ENFILE, ENOMEM] : [])

            /// The kinds of calls that have failed in a scenario. One of each is enough, but in a long run.
            private static let met = Mutex(Set<String>())

            /// Of the kinds that are left each scenario takes every third, and those of files that few commands touch. The last one, which
            /// touches nearly all, takes the rest.
            @Test(arguments: Scenario.Kind.allCases.reversed())
            func `a failing call is reported, loses nothing, and is forgotten once its cause is gone`(
                kind: Scenario.Kind
            ) async throws {
                try await Scenario.with(kind) { scenario in
                    var attempts = 0
                    for error in Self.errors {
                        var left = 0
                        for (index, call) in try await scenario.calls(failingWith: error).enumerated() {
                            if !isThorough {
                                guard !Self.met.withLock({ $0.contains(call.kind) }) else { continue }
                                left += 1
                                guard left % 3 == 1 || !call.isCommon || kind == .firstPrefetch else { continue }
                                Self.met.withLock { _ = $0.insert(call.kind) }
                            }
                            // In turn, calls fail once, and from then on.
                            for lasts in isThorough ? [false, true] : [attempts.isMultiple(of: 2)] {
                                if try await fail(error, index + 1, lasts: lasts, in: scenario) { attempts += 1 }
                            }
                        }
                    }
                    print("\(kind): \(attempts) failing calls")
                    if kind == .firstPrefetch { #expect(attempts > 20) }
                }
            }

            /// - Returns: whether a call failed.
            private func fail(_ error: Int32, _ number: Int, lasts: Bool, in scenario: Scenario) async throws -> Bool {
                let attempt = try await scenario.attempt(["DISK_FAIL": "\(error):\(number)\(lasts ? ":lasting" : "")"])
                guard let failed = attempt.failed else { return false }
                let description =
                    "\(String(cString: strerror(error)))\(lasts ? ", lasting," : "") in call \(number) (\(failed.path)): \(attempt.result)"
                // A disk that takes rows and removes no file leaves files without a row.
                let faults = attempt.faults.filter { error != EROFS || !$0.hasPrefix("no entry names") }
                #expect(faults.isEmpty, "\(faults) after \(description)")
                #expect([0, 1, 3].contains(attempt.result.status), "\(description)")
                if attempt.result.status != 0 {
                    #expect(isNamed(error, of: failed, lasts: lasts, by: attempt.result.stderr), "\(description)")
                    #expect(error == EIO || !attempt.result.stderr.contains("--repair"), "\(description)")
                }
                let again = try await scenario.again()
                #expect(again.status == 0, "\(again) after \(description)")
                return true
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

    /// Whether a message says what failed, in the words of the system, of the cache or of SQLite.
    private func isNamed(_ error: Int32, of failed: DiskOperation, lasts: Bool, by message: String) -> Bool {
        var words = [String(cString: strerror(error))]
        if [ENOSPC, EDQUOT].contains(error) { words += ["is full", "may be full"] }
        // What lasts may come to the index, too.
        if lasts || failed.path.contains("/index.sqlite3") {
            // SQLite takes an error in a read of the index for damage. It opens a file for reading that it cannot open for writing.
            words += error == EIO ? ["disk I/O error", "damaged"] : ["readonly database"]
            if error == EROFS { words.append("cannot be created") }
        }
        return words.contains { message.contains($0) }
    }
#endif
