/// placeholder
struct BenchPage { var report: BenchReport
 init(_ r: BenchReport) { report = r }
 var html: String { "" } }
