#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

#include "Reducer.h"

/// libjpeg's errors return to the last `setjmp`.
struct errors {
    struct jpeg_error_mgr manager;
    jmp_buf exit;
};

static void leave(j_common_ptr info) { longjmp(((struct errors *)info->err)->exit, 1); }
static void ignore(j_common_ptr info) { (void)info; }

/// A picture of a few bytes may have thousands of scans, each of which takes as long as its pixels.
static const int maximum_scans = 50;

static void watch_scans(j_common_ptr info) {
    if (((j_decompress_ptr)info)->input_scan_number > maximum_scans) leave(info);
}

/// A pixel of inks, as Adobe writes them: 255 is none.
static void convert_inks(uint8_t *row, uint32_t width, bool is_inverted) {
    for (uint32_t index = 0; index < width; index++, row += 4) {
        const uint8_t flip = is_inverted ? 0 : 255;
        const uint32_t black = row[3] ^ flip;
        for (int channel = 0; channel < 3; channel++) row[channel] = (uint8_t)(((row[channel] ^ flip) * black + 127) / 255);
    }
}

/// The numerator of the scale `n`/8 in which to decode: the smallest that leaves the pixels of the result. Only powers of two are fast.
static unsigned numerator(uint32_t width, uint32_t height, uint32_t longest) {
    const uint64_t side = width > height ? width : height;
    unsigned scale = 1;
    while (scale < 8 && side * scale < (uint64_t)longest * 8) scale *= 2;
    return scale;
}

int32_t sleeve_read_jpeg(
    const uint8_t *bytes, size_t count, struct sleeve_reduction reduction, struct sleeve_picture *result
) {
    struct jpeg_decompress_struct info;
    struct errors errors;
    struct jpeg_progress_mgr progress = {.progress_monitor = watch_scans};
    struct sleeve_reducer *volatile reducer = NULL;
    volatile int32_t problem = sleeve_picture_damaged;
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = leave;
    errors.manager.output_message = ignore;
    if (setjmp(errors.exit)) {
        jpeg_destroy_decompress(&info);
        free(sleeve_reducer_finish(reducer));
        return errors.manager.msg_code == JERR_OUT_OF_MEMORY ? sleeve_picture_out_of_memory : problem;
    }
    jpeg_create_decompress(&info);
    info.progress = &progress;
    jpeg_mem_src(&info, bytes, count);
    jpeg_read_header(&info, TRUE);
    const uint32_t width = info.image_width, height = info.image_height;
    if (!sleeve_is_allowed(width, height, reduction)) {
        problem = sleeve_picture_too_large;
        leave((j_common_ptr)&info);
    }
    sleeve_result_size(width, height, reduction.longest, &result->width, &result->height);
    const bool has_inks = info.num_components == 4;
    info.scale_num = numerator(width, height, reduction.longest);
    info.scale_denom = 8;
    info.out_color_space = has_inks ? JCS_CMYK : JCS_EXT_RGBX;
    info.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&info);
    const double scale = info.scale_num / 8.0;
    reducer = sleeve_reducer_new(
        info.output_width, info.output_height, width * scale, height * scale, result->width, result->height);
    if (!reducer) {
        problem = sleeve_picture_out_of_memory;
        leave((j_common_ptr)&info);
    }
    while (info.output_scanline < info.output_height) {
        uint8_t *row = sleeve_reducer_row(reducer);
        if (jpeg_read_scanlines(&info, &row, 1) != 1) leave((j_common_ptr)&info);
        if (has_inks) convert_inks(row, info.output_width, info.saw_Adobe_marker);
        sleeve_reducer_add(reducer);
    }
    result->is_grey = info.num_components == 1;
    result->is_converted = has_inks;
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    result->pixels = sleeve_reducer_finish(reducer);
    return result->pixels ? sleeve_picture_read : sleeve_picture_damaged;
}

bool sleeve_write_jpeg(
    const struct sleeve_picture *picture, int32_t quality, const uint8_t *profile, size_t profile_count,
    uint8_t **written, size_t *count
) {
    struct jpeg_compress_struct info = {0};
    struct errors errors;
    unsigned char *volatile buffer = NULL;
    unsigned long length = 0;
    uint8_t *volatile grey = NULL;
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = leave;
    errors.manager.output_message = ignore;
    if (setjmp(errors.exit)) {
        // Only this tells where the buffer is now.
        if (info.dest) info.dest->term_destination(&info);
        jpeg_destroy_compress(&info);
        free(buffer);
        free(grey);
        return false;
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, (unsigned char **)&buffer, &length);
    info.image_width = picture->width;
    info.image_height = picture->height;
    info.input_components = picture->is_grey ? 1 : 4;
    info.in_color_space = picture->is_grey ? JCS_GRAYSCALE : JCS_EXT_RGBX;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    // Two passes make it 2 to 5 % smaller.
    info.optimize_coding = TRUE;
    jpeg_start_compress(&info, TRUE);
    if (profile) jpeg_write_icc_profile(&info, profile, (unsigned)profile_count);
    if (picture->is_grey && !(grey = malloc(picture->width))) leave((j_common_ptr)&info);
    while (info.next_scanline < info.image_height) {
        uint8_t *row = picture->pixels + (size_t)info.next_scanline * picture->width * 4;
        if (picture->is_grey) {
            for (uint32_t index = 0; index < picture->width; index++) grey[index] = row[index * 4];
            row = grey;
        }
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    free(grey);
    *written = buffer;
    *count = length;
    return true;
}
