#include "StarterCovers.h"

// C23, which clang also accepts in earlier modes. `#embed` compiles much faster than an array literal in Swift.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char low_tide_600[] = {
#embed "covers/600/low-tide.jpg"
};
static const unsigned char low_tide_320[] = {
#embed "covers/320/low-tide.jpg"
};
static const unsigned char low_tide_200[] = {
#embed "covers/200/low-tide.jpg"
};

static const unsigned char paper_suns_600[] = {
#embed "covers/600/paper-suns.jpg"
};
static const unsigned char paper_suns_320[] = {
#embed "covers/320/paper-suns.jpg"
};
static const unsigned char paper_suns_200[] = {
#embed "covers/200/paper-suns.jpg"
};

static const unsigned char night_bus_to_ostrava_600[] = {
#embed "covers/600/night-bus-to-ostrava.jpg"
};
static const unsigned char night_bus_to_ostrava_320[] = {
#embed "covers/320/night-bus-to-ostrava.jpg"
};
static const unsigned char night_bus_to_ostrava_200[] = {
#embed "covers/200/night-bus-to-ostrava.jpg"
};

static const unsigned char four_rooms_600[] = {
#embed "covers/600/four-rooms.jpg"
};
static const unsigned char four_rooms_320[] = {
#embed "covers/320/four-rooms.jpg"
};
static const unsigned char four_rooms_200[] = {
#embed "covers/200/four-rooms.jpg"
};

static const unsigned char gravel_and_silk_600[] = {
#embed "covers/600/gravel-and-silk.jpg"
};
static const unsigned char gravel_and_silk_320[] = {
#embed "covers/320/gravel-and-silk.jpg"
};
static const unsigned char gravel_and_silk_200[] = {
#embed "covers/200/gravel-and-silk.jpg"
};

static const unsigned char understory_600[] = {
#embed "covers/600/understory.jpg"
};
static const unsigned char understory_320[] = {
#embed "covers/320/understory.jpg"
};
static const unsigned char understory_200[] = {
#embed "covers/200/understory.jpg"
};

static const unsigned char brass_weather_600[] = {
#embed "covers/600/brass-weather.jpg"
};
static const unsigned char brass_weather_320[] = {
#embed "covers/320/brass-weather.jpg"
};
static const unsigned char brass_weather_200[] = {
#embed "covers/200/brass-weather.jpg"
};

static const unsigned char second_language_600[] = {
#embed "covers/600/second-language.jpg"
};
static const unsigned char second_language_320[] = {
#embed "covers/320/second-language.jpg"
};
static const unsigned char second_language_200[] = {
#embed "covers/200/second-language.jpg"
};

static const unsigned char concrete_choir_600[] = {
#embed "covers/600/concrete-choir.jpg"
};
static const unsigned char concrete_choir_320[] = {
#embed "covers/320/concrete-choir.jpg"
};
static const unsigned char concrete_choir_200[] = {
#embed "covers/200/concrete-choir.jpg"
};

static const unsigned char the_long_way_up_600[] = {
#embed "covers/600/the-long-way-up.jpg"
};
static const unsigned char the_long_way_up_320[] = {
#embed "covers/320/the-long-way-up.jpg"
};
static const unsigned char the_long_way_up_200[] = {
#embed "covers/200/the-long-way-up.jpg"
};

static const unsigned char kitchen_songs_600[] = {
#embed "covers/600/kitchen-songs.jpg"
};
static const unsigned char kitchen_songs_320[] = {
#embed "covers/320/kitchen-songs.jpg"
};
static const unsigned char kitchen_songs_200[] = {
#embed "covers/200/kitchen-songs.jpg"
};

static const unsigned char winter_counterpoint_600[] = {
#embed "covers/600/winter-counterpoint.jpg"
};
static const unsigned char winter_counterpoint_320[] = {
#embed "covers/320/winter-counterpoint.jpg"
};
static const unsigned char winter_counterpoint_200[] = {
#embed "covers/200/winter-counterpoint.jpg"
};

static const unsigned char icon_jpeg[] = {
#embed "covers/icon.jpg"
};
static const unsigned char icon_png[] = {
#embed "covers/icon.png"
};

#define IMAGE(name) {name, sizeof name}
#define COVER(slug, name) {slug, IMAGE(name##_600), IMAGE(name##_320), IMAGE(name##_200)}

static const sleeve_cover covers[sleeve_cover_count] = {
    COVER("low-tide", low_tide),
    COVER("paper-suns", paper_suns),
    COVER("night-bus-to-ostrava", night_bus_to_ostrava),
    COVER("four-rooms", four_rooms),
    COVER("gravel-and-silk", gravel_and_silk),
    COVER("understory", understory),
    COVER("brass-weather", brass_weather),
    COVER("second-language", second_language),
    COVER("concrete-choir", concrete_choir),
    COVER("the-long-way-up", the_long_way_up),
    COVER("kitchen-songs", kitchen_songs),
    COVER("winter-counterpoint", winter_counterpoint),
};

sleeve_cover sleeve_cover_at(size_t index) { return covers[index]; }

sleeve_image sleeve_icon_jpeg(void) { return (sleeve_image)IMAGE(icon_jpeg); }

sleeve_image sleeve_icon_png(void) { return (sleeve_image)IMAGE(icon_png); }
