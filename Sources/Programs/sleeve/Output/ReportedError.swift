import CommandSupport
import CoverLibrary
import CoverSources
import MusicFolder
import OriginServer
import Platform

/// What the parser ends the process with: for an error of another room its message is printed here, and the exit code returned.
func reported(_ error: any Error) -> any Error {
    switch error {
    case let error as LibraryError: fail(error.message)
    case let error as CoverFailure: fail(error.message)
    case let error as SystemError: fail("cannot \(error)")
    case is MusicState.Problem, is TagLane.Unavailable, is SourceMemoryError, is OriginError: fail("\(error)")
    default: error
    }
}
