import CoverCache

extension LibraryError {
    init(_ error: any Error) {
        self = (error as? LibraryError) ?? .unusableCache(CacheError(error).description)
    }
}
