// What Sleeve needs of TagLib, with C linkage: TagLib's own C interface knows neither MusicBrainz ids nor pictures.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Receives what a file's tags contain. The bytes are valid during the call only, and do not end with NUL.
struct sleeve_tag_visitor {
    void *context;
    /// A text. Keys are those of TagLib's property map, such as ALBUM and MUSICBRAINZ_ALBUMID; a key with several values is visited
    /// once for each. The texts are UTF-8.
    void (*text)(void *context, const char *key, size_t key_count, const char *value, size_t value_count);
    /// An embedded picture. `type` is that of ID3v2 (APIC) and FLAC: 3 is the front cover. The media type may be empty or wrong.
    void (*picture)(
        void *context, int32_t type, const char *media_type, size_t media_type_count, const void *bytes, size_t count);
    /// How long the audio is. Not called if that is not known.
    void (*length)(void *context, uint32_t milliseconds);
};

enum {
    sleeve_tags_read = 0,
    /// The file is not of its format, or is cut off before its tags.
    sleeve_tags_invalid = 1,
    /// TagLib has no parser for this extension.
    sleeve_tags_unknown_format = 2,
    sleeve_tags_out_of_memory = 3,
    sleeve_tags_exception = 4,
};

/// Reads the tags and the length of an open regular file. Closes the descriptor.
/// - Parameter extension: of the file's name, in lower case. It decides where the first bytes do not.
/// - Returns: one of the constants above.
int32_t sleeve_read_tags(int descriptor, const char *extension, const struct sleeve_tag_visitor *visitor);

#ifdef __cplusplus
}
#endif
