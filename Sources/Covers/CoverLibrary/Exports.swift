// The public types of these rooms are part of the library's API.
@_exported public import AlbumLibrary
@_exported public import CoverCache
@_exported public import CoverFetch
@_exported public import CoverPack
@_exported public import CoverTier
