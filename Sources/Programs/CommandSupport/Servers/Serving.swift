import Platform

/// Prints a server's address, waits for a signal, and stops the server.
/// - Parameter hint: A message for the user; nil with `--quiet`.
/// - Throws: The exit code.
package func serve(at url: String, hint: String?, stop: () async -> Void) async throws {
    let signals = Signals.stream()
    Log.flush()
    // Clients may know the address, and a server that was started with a closed stdout has no reader of it.
    if !Terminal.standardOutput.write("\(url)\n") {
        Log.warning("cannot write the address \(url) to stdout: \(SystemError("write").reason)")
    }
    if let hint { Log.info(hint) }
    let signal = await signals.first { _ in true } ?? 0
    await stop()
    throw ExitStatus.stopped(by: signal)
}
