#include <stdlib.h>
#include <string.h>

#include <spng.h>

#include "Reducer.h"

/// No chunk that is kept, such as an ICC profile, may be longer, in bytes.
static const size_t maximum_chunk = 4 << 20;

static void put_on_white(uint8_t *row, uint32_t width) {
    for (uint32_t index = 0; index < width; index++, row += 4) {
        const uint32_t alpha = row[3];
        if (alpha == 255) continue;
        for (int channel = 0; channel < 3; channel++)
            row[channel] = (uint8_t)((row[channel] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
}

static bool copy_profile(spng_ctx *context, struct sleeve_picture *result) {
    struct spng_iccp profile;
    if (spng_get_iccp(context, &profile) != 0 || profile.profile_len == 0) return true;
    result->profile = malloc(profile.profile_len);
    if (!result->profile) return false;
    memcpy(result->profile, profile.profile, profile.profile_len);
    result->profile_count = profile.profile_len;
    return true;
}

/// Reads the rows one by one; those of an interlaced picture only together.
static bool read_rows(spng_ctx *context, const struct spng_ihdr *header, struct sleeve_reducer *reducer) {
    const size_t length = (size_t)header->width * 4;
    if (header->interlace_method == SPNG_INTERLACE_NONE) {
        if (spng_decode_image(context, NULL, 0, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS | SPNG_DECODE_PROGRESSIVE) != 0)
            return false;
        for (uint32_t index = 0; index < header->height; index++) {
            uint8_t *row = sleeve_reducer_row(reducer);
            const int code = spng_decode_row(context, row, length);
            if (code != 0 && code != SPNG_EOI) return false;
            put_on_white(row, header->width);
            sleeve_reducer_add(reducer);
        }
        return true;
    }
    uint8_t *pixels = malloc(length * header->height);
    const bool is_read =
        pixels && spng_decode_image(context, pixels, length * header->height, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS) == 0;
    for (uint32_t index = 0; is_read && index < header->height; index++) {
        uint8_t *row = sleeve_reducer_row(reducer);
        memcpy(row, pixels + index * length, length);
        put_on_white(row, header->width);
        sleeve_reducer_add(reducer);
    }
    free(pixels);
    return is_read;
}

static int32_t read_png(spng_ctx *context, struct sleeve_reduction reduction, struct sleeve_picture *result) {
    struct spng_ihdr header;
    if (spng_get_ihdr(context, &header) != 0) return sleeve_picture_damaged;
    const uint32_t width = header.width, height = header.height;
    if (!sleeve_is_allowed(width, height, reduction)) return sleeve_picture_too_large;
    sleeve_result_size(width, height, reduction.longest, &result->width, &result->height);
    result->is_grey =
        header.color_type == SPNG_COLOR_TYPE_GRAYSCALE || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
    struct sleeve_reducer *reducer =
        sleeve_reducer_new(width, height, width, height, result->width, result->height);
    if (!reducer || !copy_profile(context, result)) {
        free(sleeve_reducer_finish(reducer));
        return sleeve_picture_out_of_memory;
    }
    const bool is_read = read_rows(context, &header, reducer);
    result->pixels = sleeve_reducer_finish(reducer);
    if (is_read && result->pixels) return sleeve_picture_read;
    sleeve_free_picture(result);
    return sleeve_picture_damaged;
}

int32_t sleeve_read_png(
    const uint8_t *bytes, size_t count, struct sleeve_reduction reduction, struct sleeve_picture *result
) {
    spng_ctx *context = spng_ctx_new(0);
    if (!context) return sleeve_picture_out_of_memory;
    int32_t code = sleeve_picture_damaged;
    if (spng_set_chunk_limits(context, maximum_chunk, 2 * maximum_chunk) == 0
        && spng_set_png_buffer(context, bytes, count) == 0)
        code = read_png(context, reduction, result);
    spng_ctx_free(context);
    return code;
}
