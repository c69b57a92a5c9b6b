import ArgumentParser
import CommandSupport
import Platform

/// A process of a torture that has ended.
struct TortureProcess: Sendable, Equatable {
    /// Its number among all processes.
    var number: Int
    var job: TortureJob
    var fate: TortureFate
    /// Times since the start of the torture: before the process started, and after it had ended.
    var start, end: Duration
    /// The exit code; 128+N if signal N ended it.
    var status: Int32
    /// The signals that were sent, in order.
    var signals: [Int32]
    var exceededTimeLimit = false
    /// The first line that it wrote to stderr.
    var message = ""
    /// The covers that it has reported as stored.
    var acknowledgements: [Acknowledgement] = []
    /// How many defects `verify --repair` found.
    var defects = 0
    /// The output of `list`: digests by URL.
    var listed: [String: String] = [:]
    /// The SHA-256 of the file that `get` wrote; nil without one.
    var fileDigest: String?

    /// SIGKILL has ended it.
    var wasKilled: Bool { signals.contains(SIGKILL) && status == 128 + SIGKILL }
    var wasStopped: Bool { signals.contains(SIGSTOP) }

    /// `prefetch 12, killed after 81 ms`.
    var text: String {
        let ending =
            wasKilled
            ? "killed after \(Int((end - start) / .milliseconds(1))) ms"
            : (wasStopped ? "stopped, continued, " : "") + "exit code \(status)"
        return "\(name), \(ending)"
    }

    /// `prefetch 12`.
    var name: String { "\(job.kind.rawValue) \(number)" }

    /// The violations in its exit and its output.
    /// - Parameters:
    ///   - required: The covers that must have been there while it ran.
    ///   - catalog: The covers that the origin serves.
    func violations(required: RequiredCovers, catalog: TortureCatalog) -> [TortureViolation] {
        let expected = catalog.digests
        if exceededTimeLimit {
            return [TortureViolation(.waits, "\(name) was still running after \(Int((end - start) / .seconds(1))) s")]
        }
        var violations: [TortureViolation] = []
        for line in acknowledgements where expected[line.url] != line.digest {
            violations.append(
                TortureViolation(
                    .wrongBytes, url: line.url, digest: expected[line.url], "\(name) reported the digest \(line.digest)"
                ))
        }
        for (url, digest) in listed where expected[url] != digest {
            violations.append(
                TortureViolation(
                    .wrongBytes, url: url, digest: expected[url], "\(name) printed the digest \(digest)"))
        }
        if wasKilled { return violations }
        if !job.goodStatuses.contains(status) {
            violations.append(TortureViolation(.failed, "\(name) ended with exit code \(status): \(message)"))
        }
        switch job {
        case .list where status == 0:
            violations += required.violations(listed: listed).map { violation in
                var violation = violation
                violation.detail = "\(name), while others ran: \(violation.detail)"
                return violation
            }
        case .get(let cover):
            let url = catalog.urls[cover]
            if status == 0, fileDigest != expected[url] {
                violations.append(
                    TortureViolation(
                        .wrongBytes, url: url, digest: expected[url],
                        "\(name) wrote \(fileDigest.map { "the digest \($0)" } ?? "no file")"))
            } else if status == ExitStatus.someFailed.rawValue, let requirement = required.covers[url] {
                violations.append(
                    TortureViolation(
                        .lost, url: url, digest: requirement.digest,
                        "\(name), while others ran: \(message); acknowledged by \(requirement.source)"))
            }
        case .repair where defects > 0:
            // It has mended them, but kills alone damage nothing.
            violations.append(
                TortureViolation(.damaged, "\(name) found \(Decimals.count(defects, "defect")): \(message)"))
        case .pack where status == ExitStatus.someFailed.rawValue && !required.covers.isEmpty:
            violations.append(
                TortureViolation(.failed, "\(name) left out covers, while others ran: \(message)"))
        default: break
        }
        return violations
    }
}

extension TortureProcess {
    /// Reads what the process has written.
    mutating func collect(_ files: TortureJob.Files, _ catalog: TortureCatalog) {
        message = files.folder.text(of: files.errors).split(separator: "\n").first.map(String.init) ?? ""
        switch job {
        case .prefetch, .refresh: acknowledgements = Acknowledgement.all(inReport: files.folder.text(of: files.report))
        case .unpack where status == 0:
            acknowledgements = catalog.digests.map { Acknowledgement(url: $0.key, digest: $0.value) }
        case .list: listed = ListedCover.all(in: files.folder.text(of: files.output))
        case .repair:
            let result = Data(files.folder.text(of: files.output).utf8)
            defects = (try? JSONDecoder().decode(RepairResult.self, from: result))?.defects ?? 0
        case .get:
            let data = FileManager.default.contents(atPath: files.folder.file(files.cover))
            fileDigest = data.map { Digest(of: $0).description }
        default: break
        }
    }
}

/// The output of `sleeve verify --repair --json`.
private struct RepairResult: Decodable {
    var defects: Int
}

/// A line of `sleeve list --json`.
private struct ListedCover: Decodable {
    var url, digest: String

    /// Digests by URL. A line counts when its line feed was written.
    static func all(in text: String) -> [String: String] {
        let decoder = JSONDecoder()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
            try? decoder.decode(Self.self, from: Data($0.utf8))
        }
        return Dictionary(lines.map { ($0.url, $0.digest) }) { $1 }
    }
}
