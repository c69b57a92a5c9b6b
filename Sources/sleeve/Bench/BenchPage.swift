import CommandSupport

/// The report as one web page, without scripts and without other files.
struct BenchPage {
    private let report: BenchReport

    init(_ report: BenchReport) { self.report = report }

    var html: String {
        let stopped = report.isInterrupted ? "<p>Stopped before its end.</p>" : ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <meta name="color-scheme" content="light dark">
            <title>sleeve bench</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <h1>sleeve bench</h1>
            <p class="facts">\(report.date.escapedForHTML) · Sleeve \(report.version.escapedForHTML) · \(report.machine.escapedForHTML)<br>
            <code>\(report.command.escapedForHTML)</code></p>
            \(stopped)\(overview)
            \(report.links.map(section).joined(separator: "\n"))
            </body>
            </html>

            """
    }

    /// Covers a second of every link; nothing for a single one.
    private var overview: String {
        let cold = report.results.filter { $0.scenario == .cold }
        guard cold.count > 1 else { return "" }
        return Self.figure(
            "Covers stored per second, empty cache",
            Plot.bars(
                cold.map { ($0.link, $0.coversPerSecond, Plot.label($0.coversPerSecond.median) + "/s") },
                title: "Covers stored per second by link"))
    }

    private func section(
        _ link: (name: String, results: [BenchResult], comparisons: [Comparison])
    ) -> String {
        var html = "<section><h2>\(link.name.escapedForHTML)</h2>\n\(Self.table(link.results))\n"
        for result in link.results {
            guard let verdict = result.verdict else { continue }
            html +=
                "<p class=\"verdict\"><b>Bottleneck, \(result.scenario.rawValue):</b> \(verdict.escapedForHTML)</p>\n"
        }
        html += "<div class=\"plots\">\n"
        if let shown = link.results.first(where: { $0.latency != nil }) { html += Self.plots(shown) }
        if !link.comparisons.isEmpty { html += Self.comparison(link.comparisons) }
        return html + "</div></section>"
    }

    private static func plots(_ result: BenchResult) -> String {
        var html = ""
        if let series = result.throughput {
            html += figure(
                "Received over time, first round",
                Plot.area(
                    series, x: "s", y: "Mbit/s", title: "Throughput over time",
                    limit: result.capacity.map { ($0, "the link") }))
        }
        if let series = result.histogram {
            html += figure(
                "Covers by latency, up to the 99th percentile",
                Plot.area(series, x: "ms", y: "covers", title: "Distribution of latency"))
        }
        let queue = result.stages.first { $0.name == CoverStage.queue.rawValue }?.mean ?? 0
        return html
            + figure(
                "A cover's way: mean and 95th percentile, after \(Plot.label(queue)) ms in the queue",
                Plot.waterfall(result.stages, title: "Where the time of a cover goes"))
    }

    private static func comparison(_ comparisons: [Comparison]) -> String {
        let measured = comparisons.compactMap { comparison in
            comparison.ratio.map { (comparison.rival, $0, Decimals.text($0.median, 2) + " of its time") }
        }
        var html = ""
        if !measured.isEmpty {
            html += Plot.bars(measured, reference: 1, title: "Sleeve's time over that of other programs")
        }
        for comparison in comparisons {
            let failure = comparison.failure.map { "failed: \($0)" } ?? ""
            html +=
                "<p class=\"command\"><code>\(comparison.command.escapedForHTML)</code> \(failure.escapedForHTML)</p>"
        }
        return figure("Sleeve's time over that of other programs, empty folders", html)
    }

    private static func figure(_ caption: String, _ content: String) -> String {
        "<figure><figcaption>\(caption.escapedForHTML)</figcaption>\(content)</figure>\n"
    }

    private static func table(_ results: [BenchResult]) -> String {
        let header = BenchReport.columns.map { "<th>\($0.escapedForHTML)</th>" }.joined()
        let rows = results.map { result in
            "<tr>" + BenchReport.row(result).map { "<td>\($0.escapedForHTML)</td>" }.joined() + "</tr>"
        }
        return "<div class=\"table\"><table><tr>\(header)</tr>\n\(rows.joined(separator: "\n"))</table></div>"
    }

    private static let style = """
        :root { --text: #1c1d20; --soft: #62666d; --page: #fff; --line: #dfe2e6; --transfer: #2563c4; --store: #c2681b; --area: #2563c455; }
        @media (prefers-color-scheme: dark) {
        :root { --text: #e6e7e9; --soft: #9da2aa; --page: #17181b; --line: #34373c; --transfer: #6ea3f2; --store: #e59a55; --area: #6ea3f255; }
        }
        body { max-width: 1180px; margin: 0 auto; padding: 24px; background: var(--page); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
        h1 { margin: 0; font-size: 24px; }
        h2 { margin: 36px 0 8px; font-size: 19px; }
        .facts, figcaption, .command { color: var(--soft); font-size: 13px; }
        .command { margin: 2px 0; overflow-wrap: anywhere; }
        .table { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th, td { padding: 4px 10px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
        th { color: var(--soft); font-weight: 500; }
        th:first-child, td:first-child { padding-left: 0; text-align: left; }
        .verdict { margin: 8px 0; padding: 6px 12px; border-left: 3px solid var(--transfer); }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 20px 32px; margin-top: 16px; align-items: start; }
        figure { margin: 0; }
        body > figure { max-width: 700px; margin-top: 16px; }
        svg { display: block; width: 100%; margin-top: 4px; }
        text { fill: var(--soft); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
        line { stroke: var(--line); }
        .area { fill: var(--area); stroke: var(--transfer); stroke-width: 1.2; }
        .limit { stroke: var(--store); stroke-dasharray: 4 3; }
        .range { stroke: var(--text); stroke-width: 1.5; }
        rect.transfer { fill: var(--transfer); }
        rect.store { fill: var(--store); }
        line.transfer { stroke: var(--transfer); }
        line.store { stroke: var(--store); }
        """
}
