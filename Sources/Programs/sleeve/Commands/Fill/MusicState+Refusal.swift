import CommandSupport
import MusicFolder
import Platform

extension MusicState {
    /// Says of files whose cover was refused that they stay, and what to do. Those that are not as a fill wrote them are a person's.
    /// - Parameter songs: In whose tags a fill has written a cover.
    /// - Throws: `Problem`.
    func tellWhatStays(_ files: [Written], songs: Int) throws {
        let last = try runs().first
        let lines = files.filter { $0.state != .removed && $0.isUnchanged }.map { file in
            let undo = file.run == last ? ", or take all of the last fill back by `sleeve fill undo`" : ""
            return "\(file.path): stays; remove it\(undo)"
        }
        MessageList("file") { Log.info($0) }.print(lines)
        if songs > 0 {
            let stay = "the covers that fills wrote into the tags of \(Decimals.count(songs, "song")) stay"
            Log.info("\(stay), until you accept another one with --embed, or take their fill back")
        }
    }
}
