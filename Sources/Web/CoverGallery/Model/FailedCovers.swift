import AlbumLibrary
import CoverLibrary
import Platform

/// The covers that a run could not get: how many for each reason, and the last ones of each.
struct FailedCovers: Sendable {
    /// Reasons name hosts, of which a library may have thousands.
    static let maximumReasons = 20
    static let maximumListed = 20
    private static let otherReasons = "Failed for other reasons."

    private struct Group {
        var key: String
        /// That of the last one.
        var reason = ""
        var count = 0
        /// As JSON.
        var listed: [String] = []
    }

    /// In the order in which their reasons first occurred.
    private var groups: [Group] = []

    /// What servers answered is one reason, whichever they are.
    mutating func add(_ failure: CoverFailure, url: String, album: Album?) {
        let answer = failure.kind == .status && !OwnPictures.isAddress(failure.url) ? failure.status : nil
        add(CoverProblem(failure), answer: answer, url: url, album: album)
    }

    mutating func add(_ problem: CoverProblem, answer: Int? = nil, url: String = "", album: Album? = nil) {
        var (key, problem) = (answer.map { "\($0)" } ?? problem.reason, problem)
        if groups.count >= Self.maximumReasons, !groups.contains(where: { $0.key == key }) {
            (key, problem) = (Self.otherReasons, CoverProblem(reason: Self.otherReasons, cause: problem.reason))
        }
        let index = groups.firstIndex { $0.key == key } ?? groups.endIndex
        if index == groups.endIndex { groups.append(Group(key: key)) }
        groups[index].reason = problem.reason
        groups[index].count += 1
        if groups[index].listed.count >= Self.maximumListed { groups[index].listed.removeFirst() }
        groups[index].listed.append(
            jsonText {
                $0.add("album", album?.id)
                $0.add("title", album?.title)
                $0.add("url", OwnPictures.isAddress(url) ? "" : url)
                problem.add(to: &$0, as: "reason")
            })
    }

    /// Adds those that are listed as `failures`, and how many more each reason has as `unlisted`.
    func add(to object: inout JSONObject) {
        let unlisted = groups.filter { $0.count > $0.listed.count }.map { group in
            jsonText {
                $0.add("reason", group.reason)
                $0.add("count", group.count - group.listed.count)
            }
        }
        object.add("failures", raw: "[" + groups.flatMap(\.listed).joined(separator: ",") + "]")
        object.add("unlisted", raw: "[" + unlisted.joined(separator: ",") + "]")
    }
}
