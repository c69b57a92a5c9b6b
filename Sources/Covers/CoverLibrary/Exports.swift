// The public types of these rooms are part of the library's API. Of the albums only what locates covers is: the rest is the product
// `AlbumLibrary`.
@_exported public import enum AlbumLibrary.CoverSize
@_exported public import enum AlbumLibrary.LibraryError
@_exported public import struct AlbumLibrary.Album
@_exported public import CoverCache
@_exported public import CoverFetch
