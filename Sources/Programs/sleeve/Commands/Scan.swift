import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform

struct Scan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", _superCommandName: "sleeve",
        abstract: "Add the albums of music folders to the library, by the tags of their files.",
        discussion: """
            Reads the tags of mp3, flac, ogg, opus, m4a, wma, wv, ape, aiff, wav, dsf and mpc files, and looks which albums have a cover: \
            a file beside the music (cover, folder, front, album, albumart or the album's title, with jpg, jpeg, png, webp, avif, jxl or \
            gif, in any case), and pictures in the tags. It writes nothing into the folders. Files without an album in their tags are counted.

            Files are one album by their MusicBrainz release, else by album artist, title, year and folder. Folders such as CD1 and \
            Disc 2 are one album. It is an album of the library by its release, else by artist, title and year, else if the songs in its folder \
            are as long as before, whatever they are called; never by the folder alone. New albums are added; fields that you have edited and albums that you have deleted stay as they are. \
            One `sleeve album undo` undoes what was added. `sleeve prefetch` then downloads the covers of albums that have a MusicBrainz id.

            Only folders that have changed are read again. Symbolic links are followed once each, inside the folder. Hidden folders, \
            folders with an empty .nomedia, .ndignore or .mpdignore, and those of storage systems (@eaDir, #snapshot, ...) are left out.

            Albums whose folder is gone, or has another album now, are reported. If a folder has lost all of its music, or a disk that was \
            mounted in it is not, none of its albums counts as gone.

            With --json it prints one object with the counts: files, filesRead, folders, foldersRead, albums, new, changed, deleted, \
            withCover, withoutCover, embedded, untagged, gone, pruned, links, problems.

              sleeve scan ~/Music
              sleeve scan /music/flac /music/mp3 --json
              sleeve scan ~/Music --prune

            Exits with 3 if a file or a folder could not be read; the others are.
            """)

    @Flag(
        help: ArgumentHelp(
            "Delete albums from the library whose folder is gone.",
            discussion:
                "Only those that a scan has added and that were not edited. One `sleeve album undo` restores them. Scanned folders that do not exist are forgotten: `sleeve audit` does not look for them any more."
        ))
    var prune = false

    @OptionGroup var music: MusicFolderOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var editing: EditOptions

    func validate() throws { if music.folders.isEmpty { throw ValidationError("Name the music folders to scan.") } }

    func run() async throws {
        var (scan, missing) = try music.scan()
        scan.options.prunes = prune
        try await editing.withLibrary { [scan, options = editing.options] library in
            let state = try MusicFolderOptions.openState(library.configuration)
            let start = ContinuousClock.now
            let outcome = try await MusicFolderOptions.run(scan, library.albums, state, options, progress)
            let summary = ScanSummary(
                outcome, missing: missing, seconds: start.duration(to: .now) / .seconds(1))
            try options.printResult(summary, text: summary.text)
            try stopIfSignalled()
            if summary.problems > 0 { throw ExitStatus.someFailed }
        }
    }
}
