#pragma once
#include "CPictures.h"

/// Reduces a picture row by row: whole pixels are averaged as long as at least two are left for one of the result, then each is weighted
/// by a Lanczos window of three lobes (Duchon 1979), which keeps edges sharp without moiré.
struct sleeve_reducer;

/// - Parameters:
///   - width: of the rows that follow.
///   - span_width: the width that the picture has in units of these rows: a last pixel may be only partly of it.
struct sleeve_reducer *sleeve_reducer_new(
    uint32_t width, uint32_t height, double span_width, double span_height, uint32_t result_width,
    uint32_t result_height);

/// Where to write the next row, in the pixel format of `sleeve_picture`.
uint8_t *sleeve_reducer_row(struct sleeve_reducer *reducer);

/// Takes the row that was written there. Rows beyond the height are ignored.
void sleeve_reducer_add(struct sleeve_reducer *reducer);

/// The pixels of the result, which the caller frees; NULL if rows are missing. Frees the reducer, which may be NULL.
uint8_t *sleeve_reducer_finish(struct sleeve_reducer *reducer);

/// Whether a picture of this size may be read.
static inline bool sleeve_is_allowed(uint32_t width, uint32_t height, struct sleeve_reduction reduction) {
    return (uint64_t)width * height <= reduction.maximum_pixels && width <= reduction.maximum_side
           && height <= reduction.maximum_side;
}

/// The sides of the result for a picture of this size, each at least 1.
void sleeve_result_size(
    uint32_t width, uint32_t height, uint32_t longest, uint32_t *result_width, uint32_t *result_height);
