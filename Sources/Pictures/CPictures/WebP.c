#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>

#include "Reducer.h"

/// The decoder averages a larger picture to this many times the result, as it reads it.
static const uint32_t margin = 2;

/// Colours are multiplied by alpha already.
static void put_on_white(uint8_t *row, uint32_t width) {
    for (uint32_t index = 0; index < width; index++, row += 4) {
        const uint8_t white = 255 - row[3];
        for (int channel = 0; channel < 3; channel++) row[channel] += white;
    }
}

int32_t sleeve_read_webp(
    const uint8_t *bytes, size_t count, struct sleeve_reduction reduction, struct sleeve_picture *result
) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return sleeve_picture_unsupported;
    if (WebPGetFeatures(bytes, count, &config.input) != VP8_STATUS_OK) return sleeve_picture_damaged;
    if (config.input.has_animation) return sleeve_picture_unsupported;
    uint32_t width = (uint32_t)config.input.width, height = (uint32_t)config.input.height;
    if (!sleeve_is_allowed(width, height, reduction)) return sleeve_picture_too_large;
    sleeve_result_size(width, height, reduction.longest, &result->width, &result->height);
    if (width > margin * result->width && height > margin * result->height) {
        width = margin * result->width;
        height = margin * result->height;
        config.options.use_scaling = 1;
        config.options.scaled_width = (int)width;
        config.options.scaled_height = (int)height;
    }
    config.output.colorspace = config.input.has_alpha ? MODE_rgbA : MODE_RGBA;
    struct sleeve_reducer *reducer = NULL;
    const VP8StatusCode code = WebPDecode(bytes, count, &config);
    if (code == VP8_STATUS_OK)
        reducer = sleeve_reducer_new(width, height, width, height, result->width, result->height);
    for (uint32_t index = 0; reducer && index < height; index++) {
        uint8_t *row = sleeve_reducer_row(reducer);
        memcpy(row, config.output.u.RGBA.rgba + (size_t)index * config.output.u.RGBA.stride, (size_t)width * 4);
        if (config.input.has_alpha) put_on_white(row, width);
        sleeve_reducer_add(reducer);
    }
    WebPFreeDecBuffer(&config.output);
    result->pixels = sleeve_reducer_finish(reducer);
    if (result->pixels) return sleeve_picture_read;
    return code == VP8_STATUS_OK || code == VP8_STATUS_OUT_OF_MEMORY ? sleeve_picture_out_of_memory
                                                                     : sleeve_picture_damaged;
}
