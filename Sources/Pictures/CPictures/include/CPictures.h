// Pictures read in a smaller size, and written as JPEG: what needs C, because libjpeg reports errors by longjmp(3) and the loops are long.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    sleeve_picture_read = 0,
    /// The bytes are no picture of this format, or are damaged.
    sleeve_picture_damaged = 1,
    /// It has more pixels than were allowed, or is larger than its header said.
    sleeve_picture_too_large = 2,
    /// The library does not read this kind of the format.
    sleeve_picture_unsupported = 3,
    sleeve_picture_out_of_memory = 4,
};

/// What a picture is to become.
struct sleeve_reduction {
    /// The longest side of the result. A picture that is smaller keeps its size.
    uint32_t longest;
    /// Of the largest picture that is read: its pixels, and its longest side.
    uint64_t maximum_pixels;
    uint32_t maximum_side;
};

/// A reduced picture. Free it by `sleeve_free_picture`.
struct sleeve_picture {
    uint32_t width, height;
    /// Rows of red, green, blue, and a byte without meaning. Alpha is on white.
    uint8_t *pixels;
    /// All pixels are grey, by the format.
    bool is_grey;
    /// It was of inks (CMYK). Its ICC profile does not describe the result.
    bool is_converted;
    /// The ICC profile of a PNG; NULL for other formats.
    uint8_t *profile;
    size_t profile_count;
};

/// Each reads a picture of one format. - Returns: one of the constants above; only with the first there is something to free.
int32_t sleeve_read_jpeg(
    const uint8_t *bytes, size_t count, struct sleeve_reduction reduction, struct sleeve_picture *result);
int32_t sleeve_read_png(
    const uint8_t *bytes, size_t count, struct sleeve_reduction reduction, struct sleeve_picture *result);
int32_t sleeve_read_webp(
    const uint8_t *bytes, size_t count, struct sleeve_reduction reduction, struct sleeve_picture *result);

void sleeve_free_picture(struct sleeve_picture *picture);

/// Writes a baseline JPEG (ITU-T T.81).
/// - Parameters:
///   - profile: an ICC profile that describes the pixels; NULL for sRGB.
///   - written: what to free(3).
/// - Returns: whether there was memory.
bool sleeve_write_jpeg(
    const struct sleeve_picture *picture, int32_t quality, const uint8_t *profile, size_t profile_count,
    uint8_t **written, size_t *count);

// Whether two pictures show one cover.

enum { sleeve_luma_side = 32, sleeve_chroma_side = 8 };

/// A picture's averages: its luma, and its colour differences Cb and Cr (ITU-R BT.601), in rows.
struct sleeve_descriptor {
    uint8_t luma[sleeve_luma_side * sleeve_luma_side];
    int8_t blue[sleeve_chroma_side * sleeve_chroma_side], red[sleeve_chroma_side * sleeve_chroma_side];
};

/// Of the pictures that are described, the longest side at most, in pixels.
enum { sleeve_described_side = 192 };

/// Describes a picture without its frame, or the square in it; and a square one that has a frame with it, too.
/// - Returns: how many descriptors there are: 1 or 2; 0 if the picture is larger, or there is no memory.
int sleeve_describe(const struct sleeve_picture *picture, struct sleeve_descriptor results[2]);

enum {
    /// One of them has nothing that could be recognised.
    sleeve_plain = 0,
    sleeve_different = 1,
    /// One design: it is cropped, scanned, in other colours, or has a sticker.
    sleeve_alike = 2,
    /// One picture, in whatever size and coding.
    sleeve_same = 3,
};

/// Lays two pictures over each other by least squares, and judges what is left. - Returns: one of the constants above.
/// - Parameter first: that of the picture with more pixels.
int32_t sleeve_compare(const struct sleeve_descriptor *first, const struct sleeve_descriptor *second);
