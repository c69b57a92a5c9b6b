/// Prints a server's address, waits for a signal, and stops the server.
/// - Parameter hint: A message for the user; nil with `--quiet`.
/// - Throws: The exit code.
func serve(at url: String, hint: String?, stop: () async -> Void) async throws {
    let signals = Signals.stream()
    try printResult("\(url)\n")
    if let hint { Log.info(hint) }
    let signal = await signals.first { _ in true } ?? 0
    await stop()
    throw ExitStatus.stopped(by: signal)
}
