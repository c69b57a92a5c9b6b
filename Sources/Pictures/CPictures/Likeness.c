#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "Reducer.h"

enum { side = sleeve_luma_side, tints = sleeve_chroma_side, cells = tints * tints, unknowns = 7, moves = 5 };

/// The area of 4 by 4 values that a value is in.
static int cell(int index) { return index / side / 4 * tints + index % side / 4; }

// MARK: The descriptor

/// A part of a picture, in pixels.
struct part {
    uint32_t left, top, right, bottom;
};

/// How many lines from an edge have the first one's colour: at most 10 of 255 away on average, and 30 anywhere.
/// - Parameters:
///   - across, along: from one line to the next, and from one pixel of a line to the next, in bytes.
///   - most: the lines to look at.
static uint32_t strip(const uint8_t *first, ptrdiff_t across, ptrdiff_t along, uint32_t length, uint32_t most) {
    float color[3] = {0};
    for (uint32_t index = 0; index < length; index++)
        for (int channel = 0; channel < 3; channel++) color[channel] += first[index * along + channel];
    for (int channel = 0; channel < 3; channel++) color[channel] /= length;
    for (uint32_t line = 0; line < most; line++) {
        float sum = 0, worst = 0;
        for (uint32_t index = 0; index < length; index++)
            for (int channel = 0; channel < 3; channel++) {
                const float apart = fabsf(first[line * across + index * along + channel] - color[channel]);
                sum += apart;
                if (apart > worst) worst = apart;
            }
        if (worst > 30 || sum > 10.f * 3 * length) return line;
    }
    return most;
}

/// Cuts what a side has beyond a square: where both ends are plain, unevenly if need be, else at both alike.
static void cut_excess(uint32_t excess, uint32_t *before, uint32_t *after) {
    const uint32_t half = (excess + 1) / 2;
    if (*before + *after + 2 < excess || *before > half) *before = half;
    *after = excess - *before;
}

/// The square of a picture that is described: without a frame, or without what it has beyond a square.
static struct part trimmed(const struct sleeve_picture *picture) {
    const uint32_t width = picture->width, height = picture->height, least = width < height ? width : height;
    const uint32_t wide = width - least, high = height - least, limit = least * 7 / 100;
    const ptrdiff_t row = (ptrdiff_t)width * 4;
    const uint8_t *start = picture->pixels, *end = start + row * height - 4;
    uint32_t left = strip(start, 4, row, height, limit + wide), right = strip(end, -4, -row, height, limit + wide);
    uint32_t top = strip(start, row, 4, width, limit + high), bottom = strip(end, -row, -4, width, limit + high);
    if (wide > 1) {
        cut_excess(wide, &left, &right);
        top = bottom = 0;
    } else if (high > 1) {
        cut_excess(high, &top, &bottom);
        left = right = 0;
    } else if (!left || !right || !top || !bottom || left >= limit || right >= limit || top >= limit || bottom >= limit) {
        // A ground that reaches the limit is no frame.
        left = right = top = bottom = 0;
    } else {
        // Resampling has mixed one pixel of the frame with the picture.
        left++, right++, top++, bottom++;
    }
    return (struct part){left, top, width - right, height - bottom};
}

/// Averages all pixels of a part to 32 by 32, once it is reduced to 64 by 64: an average alone lets through what is too fine for it, and more
/// of that in a larger picture.
static bool describe(const struct sleeve_picture *picture, struct part part, struct sleeve_descriptor *result) {
    const uint32_t width = part.right - part.left, height = part.bottom - part.top;
    struct sleeve_reducer *reducer = sleeve_reducer_new(width, height, width, height, 2 * side, 2 * side);
    for (uint32_t y = 0; reducer && y < height; y++) {
        const uint8_t *row = picture->pixels + ((size_t)(part.top + y) * picture->width + part.left) * 4;
        memcpy(sleeve_reducer_row(reducer), row, (size_t)width * 4);
        sleeve_reducer_add(reducer);
    }
    uint8_t *pixels = sleeve_reducer_finish(reducer);
    if (!pixels) return false;
    float luma[side * side] = {0}, blue[cells] = {0}, red[cells] = {0};
    for (int index = 0; index < 4 * side * side; index++) {
        const uint8_t *color = pixels + index * 4;
        const int place = index / side / 4 * side + index % (2 * side) / 2;
        const float value = 0.299f * color[0] + 0.587f * color[1] + 0.114f * color[2];
        luma[place] += value / 4;
        blue[cell(place)] += (color[2] - value) * 0.564f / 64;
        red[cell(place)] += (color[0] - value) * 0.713f / 64;
    }
    free(pixels);
    for (int index = 0; index < side * side; index++) result->luma[index] = (uint8_t)fminf(lrintf(luma[index]), 255);
    for (int index = 0; index < cells; index++) {
        result->blue[index] = (int8_t)fmaxf(-127, fminf(lrintf(blue[index]), 127));
        result->red[index] = (int8_t)fmaxf(-127, fminf(lrintf(red[index]), 127));
    }
    return true;
}

int sleeve_describe(const struct sleeve_picture *picture, struct sleeve_descriptor results[2]) {
    if (picture->width > sleeve_described_side || picture->height > sleeve_described_side) return 0;
    const struct part whole = {0, 0, picture->width, picture->height}, part = trimmed(picture);
    if (!describe(picture, part, &results[0])) return 0;
    const uint32_t excess = picture->width > picture->height ? picture->width - picture->height : picture->height - picture->width;
    if (excess > 1 || memcmp(&part, &whole, sizeof part) == 0) return 1;
    return describe(picture, whole, &results[1]) ? 2 : 1;
}

// MARK: The comparison

/// A picture that another one is laid over: at each of its pixels, the other's value there, and 1 if there is one.
struct overlay {
    float values[side * side], weights[side * side];
};

/// `count` is a power of two.
static float centre(int index, int count) { return (2 * index + 1) * (1.f / count) - 1; }

/// Samples a picture of `n` by `n` values at the places of another one's pixels.
static void lay(const float *picture, int n, const float move[moves], struct overlay *result) {
    const float half = n / 2.f, last = n - 1.001f;
    for (int line = 0; line < n; line++)
        for (int column = 0; column < n; column++) {
            const float x = centre(column, n), y = centre(line, n);
            const float u = (x * (1 + move[2]) - move[4] * y + move[0] + 1) * half - 0.5f;
            const float v = (y * (1 + move[3]) + move[4] * x + move[1] + 1) * half - 0.5f;
            const float right = u < 0 ? 0 : u > last ? last : u, down = v < 0 ? 0 : v > last ? last : v;
            const int i = (int)right, j = (int)down;
            const float *place = picture + j * n + i;
            const float upper = place[0] + (place[1] - place[0]) * (right - i);
            const float lower = place[n] + (place[n + 1] - place[n]) * (right - i);
            result->values[line * n + column] = upper + (lower - upper) * (down - j);
            result->weights[line * n + column] = u > -0.75f && u < n - 0.25f && v > -0.75f && v < n - 0.25f;
        }
}

/// The slope at a pixel, across and down.
static void slope(const float *values, int n, int column, int line, float *across, float *down) {
    const float *here = values + line * n + column;
    const int left = column > 0, right = column < n - 1, up = line > 0, low = line < n - 1;
    *across = (here[right] - here[-left]) / (left + right);
    *down = (here[low * n] - here[-up * n]) / (up + low);
}

/// Solves a positive definite system by Cholesky's method; only the lower half of `matrix` is read. The result is in `right`.
static void solve(double matrix[unknowns][unknowns], double right[unknowns]) {
    for (int row = 0; row < unknowns; row++) {
        for (int column = 0; column <= row; column++) {
            double sum = matrix[row][column];
            for (int k = 0; k < column; k++) sum -= matrix[row][k] * matrix[column][k];
            matrix[row][column] = row == column ? sqrt(fmax(sum, 1e-9)) : sum / matrix[column][column];
        }
        for (int k = 0; k < row; k++) right[row] -= matrix[row][k] * right[k];
        right[row] /= matrix[row][row];
    }
    for (int row = unknowns - 1; row >= 0; row--) {
        for (int k = row + 1; k < unknowns; k++) right[row] -= matrix[k][row] * right[k];
        right[row] /= matrix[row][row];
    }
}

/// What the moves usually are, and what they are at most: to the right, down, scales across and down, and a rotation, where the half side is 1.
static const float prior[moves] = {0.05f, 0.05f, 0.05f, 0.05f, 0.012f}, limit[moves] = {0.12f, 0.12f, 0.10f, 0.10f, 0.03f};

struct fit {
    float move[moves], gain, offset;
};

/// What the unknowns are multiplied by, and what they give in sum.
typedef float equation __attribute__((vector_size(32)));

/// Improves a fit `first` ≈ gain · `second` + offset by one step of least squares, in which what differs much weighs little.
static void improve(struct fit *fit, const float *first, const float *second, int n) {
    struct overlay over;
    lay(second, n, fit->move, &over);
    float apart[side * side], sum = 0, weight = 0;
    for (int index = 0; index < n * n; index++) {
        apart[index] = first[index] - (fit->gain * over.values[index] + fit->offset);
        const float bounded = fminf(fabsf(apart[index]), 40);
        sum += bounded * bounded * over.weights[index];
        weight += over.weights[index];
    }
    const float tolerance = fmaxf(4, 1.5f * sqrtf(sum / weight)), scale = fmaxf(fit->gain, 0.3f) * n / 2;
    equation sums[unknowns] = {0};
    for (int line = 0; line < n; line++)
        for (int column = 0; column < n; column++) {
            const int index = line * n + column;
            const float ratio = apart[index] / tolerance, share = over.weights[index] / (1 + ratio * ratio);
            const float x = centre(column, n), y = centre(line, n);
            float across, down;
            slope(over.values, n, column, line, &across, &down);
            across *= scale, down *= scale;
            const equation row = {
                over.values[index], 1, across, down, across * x, down * y, down * x - across * y, first[index],
            };
            for (int i = 0; i < unknowns; i++) sums[i] += row * (share * row[i]);
        }
    double system[unknowns][unknowns], result[unknowns];
    for (int i = 0; i < unknowns; i++) {
        for (int j = 0; j <= i; j++) system[i][j] = sums[i][j];
        result[i] = sums[i][unknowns];
    }
    system[0][0] += 100, result[0] += 100;
    system[1][1] += 1e-3;
    for (int i = 0; i < moves; i++) {
        const double stiffness = 16 / (prior[i] * prior[i]);
        system[2 + i][2 + i] += stiffness;
        result[2 + i] -= stiffness * fit->move[i];
    }
    solve(system, result);
    fit->gain = (float)result[0];
    fit->offset = (float)result[1];
    for (int i = 0; i < moves; i++) fit->move[i] = fmaxf(-limit[i], fminf(fit->move[i] + (float)result[2 + i], limit[i]));
}

/// The weighted correlation of two pictures. Pictures of one colour have none.
static float correlation(const float *first, const float *second, const float *weights) {
    float weight = 0, means[2] = {0}, both = 0, squares[2] = {0};
    for (int index = 0; index < side * side; index++) {
        weight += weights[index];
        means[0] += first[index] * weights[index];
        means[1] += second[index] * weights[index];
    }
    means[0] /= weight, means[1] /= weight;
    for (int index = 0; index < side * side; index++) {
        const float a = first[index] - means[0], b = second[index] - means[1];
        both += a * b * weights[index];
        squares[0] += a * a * weights[index];
        squares[1] += b * b * weights[index];
    }
    return both / weight / sqrtf(fmaxf(squares[0] / weight, 0.25f) * fmaxf(squares[1] / weight, 0.25f));
}

/// The standard deviation of a picture's values, once the plane that fits them best is subtracted if that is wanted.
static float deviation(const float *values, bool is_flattened) {
    float mean = 0, across = 0, down = 0, square = 0, sum = 0;
    for (int index = 0; index < side * side; index++) {
        const float x = centre(index % side, side), y = centre(index / side, side);
        mean += values[index] / (side * side);
        across += values[index] * x;
        down += values[index] * y;
        square += x * x;
    }
    across = is_flattened ? across / square : 0;
    down = is_flattened ? down / square : 0;
    for (int index = 0; index < side * side; index++) {
        const float left = values[index] - mean - across * centre(index % side, side) - down * centre(index / side, side);
        sum += left * left;
    }
    return sqrtf(sum / (side * side));
}

static int ascending(const void *first, const void *second) {
    const float a = *(const float *)first, b = *(const float *)second;
    return (a > b) - (a < b);
}

static float median(const float *values) {
    float sorted[cells];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, cells, sizeof *sorted, ascending);
    return (sorted[cells / 2 - 1] + sorted[cells / 2]) / 2;
}

/// How the colours of two pictures differ, once one is laid over the other.
struct colors {
    /// The median difference; what is left after it; the largest.
    float tint, left, worst;
    /// The larger and the smaller spread. The larger and the smaller mean distance from grey.
    float spread, least_spread, strength, least_strength;
    /// The turn of the hues in degrees, and how well it describes them, from 0 to 1.
    float turn, agreement;
};

static struct colors compare_colors(
    const struct sleeve_descriptor *first, const struct sleeve_descriptor *second, const float move[moves]
) {
    float blue[cells], red[cells], apart[2][cells], weight = 0, means[4] = {0}, strengths[2] = {0};
    struct overlay blues, reds;
    for (int index = 0; index < cells; index++) {
        blue[index] = second->blue[index], red[index] = second->red[index];
        strengths[0] += hypotf(first->blue[index], first->red[index]) / cells;
        strengths[1] += hypotf(blue[index], red[index]) / cells;
    }
    lay(blue, tints, move, &blues);
    lay(red, tints, move, &reds);
    struct colors result = {0};
    for (int index = 0; index < cells; index++) {
        const float share = blues.weights[index];
        weight += share;
        apart[0][index] = (first->blue[index] - blues.values[index]) * share;
        apart[1][index] = (first->red[index] - reds.values[index]) * share;
        result.worst = fmaxf(result.worst, hypotf(apart[0][index], apart[1][index]));
        means[0] += first->blue[index] * share, means[1] += first->red[index] * share;
        means[2] += blues.values[index] * share, means[3] += reds.values[index] * share;
    }
    const float tint[2] = {median(apart[0]), median(apart[1])};
    float left = 0, spreads[2] = {0}, product[2] = {0};
    for (int index = 0; index < cells; index++) {
        const float share = blues.weights[index];
        const float u = apart[0][index] - tint[0], v = apart[1][index] - tint[1];
        left += (u * u + v * v) * share;
        const float a = first->blue[index] - means[0] / weight, b = first->red[index] - means[1] / weight;
        const float c = blues.values[index] - means[2] / weight, d = reds.values[index] - means[3] / weight;
        spreads[0] += (a * a + b * b) * share;
        spreads[1] += (c * c + d * d) * share;
        product[0] += (a * c + b * d) * share;
        product[1] += (b * c - a * d) * share;
    }
    for (int which = 0; which < 2; which++) spreads[which] = sqrtf(spreads[which] / weight);
    result.tint = hypotf(tint[0], tint[1]);
    result.left = sqrtf(left / weight);
    result.spread = fmaxf(spreads[0], spreads[1]), result.least_spread = fminf(spreads[0], spreads[1]);
    result.strength = fmaxf(strengths[0], strengths[1]), result.least_strength = fminf(strengths[0], strengths[1]);
    result.turn = fabsf(atan2f(product[1], product[0])) * 57.29578f;
    result.agreement = hypotf(product[0], product[1]) / weight / fmaxf(spreads[0] * spreads[1], 1e-3f);
    return result;
}

/// Half as many values across and down.
static void halve(const float *values, float *halves) {
    for (int line = 0; line < side / 2; line++)
        for (int column = 0; column < side / 2; column++) {
            const float *place = values + (2 * line * side + 2 * column);
            halves[line * side / 2 + column] = (place[0] + place[1] + place[side] + place[side + 1]) / 4;
        }
}

/// A picture with less detail is plain.
static const float least_detail = 4;

/// Whether a picture has structure in few areas only, such as a name on a ground.
static bool is_sparse(const float *values) {
    float sums[cells] = {0}, squares[cells] = {0};
    int structured = 0;
    for (int index = 0; index < side * side; index++) {
        sums[cell(index)] += values[index] / 16;
        squares[cell(index)] += values[index] * values[index] / 16;
    }
    for (int index = 0; index < cells; index++) structured += squares[index] - sums[index] * sums[index] > 2.5f * 2.5f;
    return structured < 12;
}

int32_t sleeve_compare(const struct sleeve_descriptor *first, const struct sleeve_descriptor *second) {
    float a[side * side], b[side * side], halves[2][side * side / 4];
    for (int index = 0; index < side * side; index++) a[index] = first->luma[index], b[index] = second->luma[index];
    if (deviation(a, true) < least_detail || deviation(b, true) < least_detail) return sleeve_plain;
    struct fit fit = {.gain = 1};
    halve(a, halves[0]);
    halve(b, halves[1]);
    for (int round = 0; round < 3; round++) improve(&fit, halves[0], halves[1], side / 2);
    for (int round = 0; round < 3; round++) improve(&fit, a, b, side);

    struct overlay over;
    lay(b, side, fit.move, &over);
    // Next to edges, a part of what a pixel is misplaced by shows: less counts there.
    float blurred[cells] = {0}, raw[cells] = {0}, sorted[cells], worst = 0;
    for (int index = 0; index < side * side; index++) {
        float across, down;
        slope(over.values, side, index % side, index / side, &across, &down);
        const float apart = fabsf(a[index] - (fit.gain * over.values[index] + fit.offset)) * over.weights[index];
        const float left = fmaxf(apart - 0.35f * fabsf(fit.gain) * hypotf(across, down), 0) * over.weights[index];
        raw[cell(index)] += apart * apart / 16;
        blurred[cell(index)] += left * left / 16;
    }
    for (int index = 0; index < cells; index++) {
        raw[index] = sqrtf(raw[index]);
        worst = fmaxf(worst, sqrtf(blurred[index]));
    }
    const struct colors colors = compare_colors(first, second, fit.move);
    const bool is_grey = colors.least_strength < 1.5f && colors.strength > 4;
    const float match = correlation(a, over.values, over.weights);
    // Where there is little to compare, no part of it may differ: covers of an artist have one layout.
    const bool is_strict = is_sparse(a) || is_sparse(b);
    if (match > 0.98f && worst < (is_strict ? 0.8f : 2) && fit.gain > 0.8f && fit.gain < 1.25f && !is_grey && colors.tint < 4
        && colors.left < 3 + 0.12f * colors.spread && colors.worst < (is_strict ? 8 : 14)) return sleeve_same;

    const bool is_turned = colors.turn > 25 && colors.agreement > 0.5f && colors.least_spread > 4;
    if (fit.gain <= 0.5f || fit.gain >= 2 || (!is_grey && (colors.tint >= 26 || is_turned))) return sleeve_different;
    if (match > 0.93f && (is_grey || colors.left < 8 + 0.35f * colors.spread)) return sleeve_alike;
    // The quarter of the cells that differ most may be a sticker's.
    memcpy(sorted, raw, sizeof sorted);
    qsort(sorted, cells, sizeof *sorted, ascending);
    const float spread = fmaxf(fminf(deviation(a, false), deviation(b, false)), 12);
    if (sorted[cells - 16] >= spread / 4) return sleeve_different;
    for (int index = 0; index < side * side; index++)
        if (raw[cell(index)] > sorted[cells - 17]) over.weights[index] = 0;
    return correlation(a, over.values, over.weights) > 0.98f ? sleeve_alike : sleeve_different;
}
