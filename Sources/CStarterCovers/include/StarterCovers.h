// The covers of the starter albums: JPEGs of 600×600 pixels, embedded in the binary.
#pragma once
#include <stddef.h>

typedef struct {
    const unsigned char *bytes; // NULL: there is no such cover. Static: never freed.
    size_t length;
} sleeve_starter_cover;

// The cover of the starter album with this slug, such as "low-tide".
sleeve_starter_cover sleeve_find_starter_cover(const char *slug);
