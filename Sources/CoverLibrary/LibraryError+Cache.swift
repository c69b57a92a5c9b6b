import CoverCache

extension LibraryError {
    init(_ error: any Error) {
        self = (error as? LibraryError) ?? LibraryError(message: CacheError(error).description)
    }
}
