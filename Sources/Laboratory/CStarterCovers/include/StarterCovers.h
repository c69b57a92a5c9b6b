// Album covers drawn for this project and embedded in the binary.
#pragma once
#include <stddef.h>

// The bytes of one file. They are static, so they stay valid and are never freed.
typedef struct {
    const unsigned char *bytes;
    size_t length;
} sleeve_image;

// The cover of one starter album in three sizes: square JPEGs of 600, 320 and 200 pixels. A 320-pixel file has at most
// 17,500 bytes and a 200-pixel file at most 8,400.
typedef struct {
    const char *slug; // The file's name in `covers`, such as "low-tide".
    sleeve_image pixels_600, pixels_320, pixels_200;
} sleeve_cover;

enum { sleeve_cover_count = 12 };

// `index` must be less than `sleeve_cover_count`.
sleeve_cover sleeve_cover_at(size_t index);

// 32-pixel images: a JPEG of about 600 bytes and a PNG of about 2,000.
sleeve_image sleeve_icon_jpeg(void);
sleeve_image sleeve_icon_png(void);
