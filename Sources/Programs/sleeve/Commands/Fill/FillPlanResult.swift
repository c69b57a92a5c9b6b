/// The result of a dry run of a fill.
struct FillPlanResult: Encodable {
    /// What would be done for a folder, and why.
    struct Step: Encodable {
        let folder, album, artist, title, reason, plan: String
    }

    /// Albums that covers would be looked for.
    let albums: Int
    /// Albums that have a cover file.
    let covered: Int
    /// Folders that cannot get one.
    let blocked: Int
    let plan: [Step]
    /// Files that would get the cover that is beside them; nil without --embed.
    var embedded, embeddedBytes: Int?
    let dryRun = true
}
