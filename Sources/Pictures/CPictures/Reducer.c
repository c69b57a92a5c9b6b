#include "Reducer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Bytes of a pixel.
enum { channels = 4 };
static const double lobes = 3;
static const double pi = 3.14159265358979323846;

/// The four channels of a pixel, and of four pixels.
typedef float pixel __attribute__((vector_size(16)));
typedef float pixels4 __attribute__((vector_size(64), aligned(16), may_alias));
typedef uint8_t pixel_bytes __attribute__((vector_size(4)));

/// Which pixels along one side make each of the result, and with which weights.
struct axis {
    uint32_t count, taps;
    /// The first pixel of each, and `taps` weights, whose sum is 1. All are inside of the picture.
    uint32_t *first;
    float *weights;
};

struct sleeve_reducer {
    /// Rows and columns that are averaged first.
    uint32_t box;
    uint32_t width, height, box_width, box_height;
    struct axis columns, rows;
    /// The row that is written.
    uint8_t *row;
    uint32_t rows_added, rows_summed;
    /// The sums of a box's rows.
    uint32_t *sums;
    /// The latest `rows.taps` rows, in a ring, and their weighted sum.
    pixel *ring, *line;
    uint32_t ring_count;
    uint8_t *result;
    uint32_t result_rows;
    /// The rows are those of the result.
    bool is_copy;
};

static double lanczos(double x) {
    if (x == 0) return 1;
    if (fabs(x) >= lobes) return 0;
    // sin 3y is 3 sin y - 4 sin³ y.
    const double third = sin(pi * x / 3);
    return lobes * third * (3 - 4 * third * third) * third / (pi * pi * x * x);
}

/// - Parameters:
///   - available: pixels along the side.
///   - scale: pixels for one of the result.
static bool make_axis(struct axis *axis, uint32_t available, double scale, uint32_t count) {
    const double step = fmax(scale, 1);
    uint32_t taps = (uint32_t)ceil(2 * lobes * step) + 1;
    if (taps > available) taps = available;
    axis->count = count;
    axis->taps = taps;
    axis->first = calloc(count, sizeof *axis->first);
    axis->weights = calloc((size_t)count * taps, sizeof *axis->weights);
    if (!axis->first || !axis->weights) return false;
    for (uint32_t index = 0; index < count; index++) {
        const double centre = (index + 0.5) * scale;
        double start = ceil(centre - lobes * step - 0.5);
        if (start > available - taps) start = available - taps;
        if (start < 0) start = 0;
        axis->first[index] = (uint32_t)start;
        float *weights = axis->weights + (size_t)index * taps;
        double sum = 0;
        for (uint32_t tap = 0; tap < taps; tap++) {
            const double weight = lanczos((start + tap + 0.5 - centre) / step);
            weights[tap] = (float)weight;
            sum += weight;
        }
        for (uint32_t tap = 0; tap < taps; tap++) weights[tap] = (float)(weights[tap] / sum);
    }
    return true;
}

static void free_reducer(struct sleeve_reducer *reducer) {
    free(reducer->columns.first);
    free(reducer->columns.weights);
    free(reducer->rows.first);
    free(reducer->rows.weights);
    free(reducer->row);
    free(reducer->sums);
    free(reducer->ring);
    free(reducer->line);
    free(reducer->result);
    free(reducer);
}

struct sleeve_reducer *sleeve_reducer_new(
    uint32_t width, uint32_t height, double span_width, double span_height, uint32_t result_width,
    uint32_t result_height
) {
    struct sleeve_reducer *reducer = calloc(1, sizeof *reducer);
    if (!reducer) return NULL;
    const double ratio = fmin(span_width / result_width, span_height / result_height);
    const uint32_t box = ratio >= 4 ? (uint32_t)(ratio / 2) : 1;
    reducer->box = box;
    reducer->width = width;
    reducer->height = height;
    reducer->box_width = (width + box - 1) / box;
    reducer->box_height = (height + box - 1) / box;
    reducer->rows.count = result_height;
    reducer->is_copy = width == result_width && height == result_height;
    reducer->row = calloc(width, channels);
    reducer->result = calloc((size_t)result_width * result_height, channels);
    bool is_made = reducer->row && reducer->result;
    if (is_made && !reducer->is_copy) {
        is_made = make_axis(&reducer->columns, reducer->box_width, span_width / box / result_width, result_width)
                  && make_axis(&reducer->rows, reducer->box_height, span_height / box / result_height, result_height);
        reducer->sums = calloc(reducer->box_width, channels * sizeof *reducer->sums);
        reducer->line = aligned_alloc(sizeof(pixel), reducer->box_width * sizeof(pixel));
        if (is_made) reducer->ring = aligned_alloc(sizeof(pixel), (size_t)reducer->rows.taps * reducer->box_width * sizeof(pixel));
        is_made = is_made && reducer->sums && reducer->line && reducer->ring;
    }
    if (is_made) return reducer;
    free_reducer(reducer);
    return NULL;
}

uint8_t *sleeve_reducer_row(struct sleeve_reducer *reducer) {
    if (!reducer->is_copy || reducer->result_rows >= reducer->height) return reducer->row;
    return reducer->result + (size_t)reducer->result_rows * reducer->width * channels;
}

/// Adds the row's pixels to those of their boxes.
static void sum(struct sleeve_reducer *reducer) {
    const uint32_t box = reducer->box;
    for (uint32_t column = 0; column < reducer->box_width; column++) {
        const uint32_t start = column * box, left = reducer->width - start;
        const uint32_t count = left < box ? left : box;
        const uint8_t *pixels = reducer->row + (size_t)start * channels;
        uint32_t red = 0, green = 0, blue = 0;
        for (uint32_t index = 0; index < count; index++, pixels += channels) {
            red += pixels[0];
            green += pixels[1];
            blue += pixels[2];
        }
        uint32_t *sums = reducer->sums + (size_t)column * channels;
        // The last box may be narrower; it counts like the others.
        sums[0] += red * box / count;
        sums[1] += green * box / count;
        sums[2] += blue * box / count;
    }
    reducer->rows_summed++;
}

static inline pixel from_bytes(const uint8_t *bytes) {
    pixel_bytes values;
    memcpy(&values, bytes, sizeof values);
    return __builtin_convertvector(values, pixel);
}

/// Moves the averages, or the row itself, into the ring.
static void add_to_ring(struct sleeve_reducer *reducer) {
    pixel *row = reducer->ring + (size_t)(reducer->ring_count % reducer->rows.taps) * reducer->box_width;
    reducer->ring_count++;
    if (reducer->box == 1) {
        for (uint32_t column = 0; column < reducer->width; column++)
            row[column] = from_bytes(reducer->row + (size_t)column * channels);
        return;
    }
    const float factor = 1.0f / (float)(reducer->rows_summed * reducer->box);
    const uint32_t *sums = reducer->sums;
    for (uint32_t column = 0; column < reducer->box_width; column++, sums += channels)
        row[column] = (pixel){(float)sums[0], (float)sums[1], (float)sums[2], 0} * factor;
    memset(reducer->sums, 0, reducer->box_width * channels * sizeof *reducer->sums);
    reducer->rows_summed = 0;
}

/// Weighs the rows of the ring for one row of the result. Four columns at a time stay in registers.
static void weigh_rows(struct sleeve_reducer *reducer, uint32_t first, const float *weights) {
    const uint32_t width = reducer->box_width, taps = reducer->rows.taps, start = first % taps;
    uint32_t column = 0;
    for (; column + 4 <= width; column += 4) {
        pixels4 sum = {0};
        uint32_t place = start;
        for (uint32_t tap = 0; tap < taps; tap++) {
            sum += *(const pixels4 *)(reducer->ring + (size_t)place * width + column) * weights[tap];
            place = place + 1 < taps ? place + 1 : 0;
        }
        *(pixels4 *)(reducer->line + column) = sum;
    }
    for (; column < width; column++) {
        pixel sum = {0};
        for (uint32_t tap = 0; tap < taps; tap++)
            sum += reducer->ring[(size_t)((first + tap) % taps) * width + column] * weights[tap];
        reducer->line[column] = sum;
    }
}

static void weigh_columns(const struct sleeve_reducer *reducer, uint8_t *result) {
    const struct axis *columns = &reducer->columns;
    const uint32_t taps = columns->taps;
    const float *weights = columns->weights;
    const pixel least = {0, 0, 0, 0}, most = {255, 255, 255, 255};
    for (uint32_t column = 0; column < columns->count; column++, result += channels, weights += taps) {
        const pixel *pixels = reducer->line + columns->first[column];
        // Two sums: an addition need not wait for the one before it.
        pixel sum = {0.5f, 0.5f, 0.5f, 0}, other = {0};
        uint32_t tap = 0;
        for (; tap + 2 <= taps; tap += 2) {
            sum += pixels[tap] * weights[tap];
            other += pixels[tap + 1] * weights[tap + 1];
        }
        if (tap < taps) sum += pixels[tap] * weights[tap];
        const pixel value = __builtin_elementwise_min(__builtin_elementwise_max(sum + other, least), most);
        const pixel_bytes bytes = __builtin_convertvector(value, pixel_bytes);
        memcpy(result, &bytes, sizeof bytes);
    }
}

/// Takes a row into the ring, and makes the rows of the result that need no later one.
static void take_row(struct sleeve_reducer *reducer) {
    const struct axis *rows = &reducer->rows;
    add_to_ring(reducer);
    while (reducer->result_rows < rows->count && rows->first[reducer->result_rows] + rows->taps <= reducer->ring_count) {
        const uint32_t index = reducer->result_rows++;
        weigh_rows(reducer, rows->first[index], rows->weights + (size_t)index * rows->taps);
        weigh_columns(reducer, reducer->result + (size_t)index * reducer->columns.count * channels);
    }
}

void sleeve_reducer_add(struct sleeve_reducer *reducer) {
    if (reducer->rows_added >= reducer->height) return;
    reducer->rows_added++;
    if (reducer->is_copy) {
        reducer->result_rows++;
        return;
    }
    if (reducer->box > 1) {
        sum(reducer);
        if (reducer->rows_summed < reducer->box && reducer->rows_added < reducer->height) return;
    }
    take_row(reducer);
}

uint8_t *sleeve_reducer_finish(struct sleeve_reducer *reducer) {
    if (!reducer) return NULL;
    uint8_t *result = NULL;
    if (reducer->result_rows == reducer->rows.count) {
        result = reducer->result;
        reducer->result = NULL;
    }
    free_reducer(reducer);
    return result;
}

void sleeve_result_size(
    uint32_t width, uint32_t height, uint32_t longest, uint32_t *result_width, uint32_t *result_height
) {
    const uint32_t side = width > height ? width : height;
    const double scale = side > longest ? (double)longest / side : 1;
    const uint32_t scaled_width = (uint32_t)(width * scale + 0.5), scaled_height = (uint32_t)(height * scale + 0.5);
    *result_width = scaled_width > 0 ? scaled_width : 1;
    *result_height = scaled_height > 0 ? scaled_height : 1;
}

void sleeve_free_picture(struct sleeve_picture *picture) {
    free(picture->pixels);
    free(picture->profile);
    memset(picture, 0, sizeof *picture);
}
