// The files of the gallery's page, in `Page`, embedded in the program.
#pragma once
#include <stddef.h>

// The name of one file and its bytes, which are static: they stay valid and are never freed.
typedef struct {
    const char *name;
    const unsigned char *bytes;
    size_t length;
} sleeve_page_file;

size_t sleeve_page_file_count(void);

// `index` must be less than the count.
sleeve_page_file sleeve_page_file_at(size_t index);
