#include "GalleryPage.h"

// C23, which clang also accepts in earlier modes. `#embed` compiles much faster than an array literal in Swift.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char activity_css[] = {
#embed "Page/activity.css"
};
static const unsigned char activity_js[] = {
#embed "Page/activity.js"
};
static const unsigned char address_js[] = {
#embed "Page/address.js"
};
static const unsigned char album_form_js[] = {
#embed "Page/album-form.js"
};
static const unsigned char api_js[] = {
#embed "Page/api.js"
};
static const unsigned char app_js[] = {
#embed "Page/app.js"
};
static const unsigned char artist_page_js[] = {
#embed "Page/artist-page.js"
};
static const unsigned char base_css[] = {
#embed "Page/base.css"
};
static const unsigned char cover_view_js[] = {
#embed "Page/cover-view.js"
};
static const unsigned char cover_css[] = {
#embed "Page/cover.css"
};
static const unsigned char covers_js[] = {
#embed "Page/covers.js"
};
static const unsigned char details_css[] = {
#embed "Page/details.css"
};
static const unsigned char details_js[] = {
#embed "Page/details.js"
};
static const unsigned char dialog_css[] = {
#embed "Page/dialog.css"
};
static const unsigned char doubtful_js[] = {
#embed "Page/doubtful.js"
};
static const unsigned char drops_js[] = {
#embed "Page/drops.js"
};
static const unsigned char edits_js[] = {
#embed "Page/edits.js"
};
static const unsigned char empty_js[] = {
#embed "Page/empty.js"
};
static const unsigned char events_js[] = {
#embed "Page/events.js"
};
static const unsigned char filters_js[] = {
#embed "Page/filters.js"
};
static const unsigned char found_js[] = {
#embed "Page/found.js"
};
static const unsigned char gallery_js[] = {
#embed "Page/gallery.js"
};
static const unsigned char helpers_js[] = {
#embed "Page/helpers.js"
};
static const unsigned char icon_maskable_svg[] = {
#embed "Page/icon-maskable.svg"
};
static const unsigned char icon_svg[] = {
#embed "Page/icon.svg"
};
static const unsigned char index_html[] = {
#embed "Page/index.html"
};
static const unsigned char library_js[] = {
#embed "Page/library.js"
};
static const unsigned char manifest_webmanifest[] = {
#embed "Page/manifest.webmanifest"
};
static const unsigned char memento_js[] = {
#embed "Page/memento.js"
};
static const unsigned char menus_js[] = {
#embed "Page/menus.js"
};
static const unsigned char offline_js[] = {
#embed "Page/offline.js"
};
static const unsigned char order_js[] = {
#embed "Page/order.js"
};
static const unsigned char overlay_js[] = {
#embed "Page/overlay.js"
};
static const unsigned char picture_field_js[] = {
#embed "Page/picture-field.js"
};
static const unsigned char places_js[] = {
#embed "Page/places.js"
};
static const unsigned char review_css[] = {
#embed "Page/review.css"
};
static const unsigned char stage_css[] = {
#embed "Page/stage.css"
};
static const unsigned char stage_js[] = {
#embed "Page/stage.js"
};
static const unsigned char search_js[] = {
#embed "Page/search.js"
};
static const unsigned char service_worker_js[] = {
#embed "Page/service-worker.js"
};
static const unsigned char several_js[] = {
#embed "Page/several.js"
};
static const unsigned char shortcuts_js[] = {
#embed "Page/shortcuts.js"
};
static const unsigned char toast_js[] = {
#embed "Page/toast.js"
};
static const unsigned char token_html[] = {
#embed "Page/token.html"
};
static const unsigned char toolbar_css[] = {
#embed "Page/toolbar.css"
};
static const unsigned char tools_js[] = {
#embed "Page/tools.js"
};
static const unsigned char transition_js[] = {
#embed "Page/transition.js"
};
static const unsigned char type_ahead_js[] = {
#embed "Page/type-ahead.js"
};
static const unsigned char zoom_js[] = {
#embed "Page/zoom.js"
};
static const unsigned char views_js[] = {
#embed "Page/views.js"
};
static const unsigned char wall_css[] = {
#embed "Page/wall.css"
};
static const unsigned char wall_js[] = {
#embed "Page/wall.js"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}
static const sleeve_page_file files[] = {
    FILE("activity.css", activity_css),
    FILE("activity.js", activity_js),
    FILE("address.js", address_js),
    FILE("album-form.js", album_form_js),
    FILE("api.js", api_js),
    FILE("app.js", app_js),
    FILE("artist-page.js", artist_page_js),
    FILE("base.css", base_css),
    FILE("cover-view.js", cover_view_js),
    FILE("cover.css", cover_css),
    FILE("covers.js", covers_js),
    FILE("details.css", details_css),
    FILE("details.js", details_js),
    FILE("dialog.css", dialog_css),
    FILE("doubtful.js", doubtful_js),
    FILE("drops.js", drops_js),
    FILE("edits.js", edits_js),
    FILE("empty.js", empty_js),
    FILE("events.js", events_js),
    FILE("filters.js", filters_js),
    FILE("found.js", found_js),
    FILE("gallery.js", gallery_js),
    FILE("helpers.js", helpers_js),
    FILE("icon-maskable.svg", icon_maskable_svg),
    FILE("icon.svg", icon_svg),
    FILE("index.html", index_html),
    FILE("library.js", library_js),
    FILE("manifest.webmanifest", manifest_webmanifest),
    FILE("memento.js", memento_js),
    FILE("menus.js", menus_js),
    FILE("offline.js", offline_js),
    FILE("order.js", order_js),
    FILE("overlay.js", overlay_js),
    FILE("picture-field.js", picture_field_js),
    FILE("places.js", places_js),
    FILE("review.css", review_css),
    FILE("stage.css", stage_css),
    FILE("stage.js", stage_js),
    FILE("search.js", search_js),
    FILE("service-worker.js", service_worker_js),
    FILE("several.js", several_js),
    FILE("shortcuts.js", shortcuts_js),
    FILE("toast.js", toast_js),
    FILE("token.html", token_html),
    FILE("toolbar.css", toolbar_css),
    FILE("tools.js", tools_js),
    FILE("transition.js", transition_js),
    FILE("type-ahead.js", type_ahead_js),
    FILE("zoom.js", zoom_js),
    FILE("views.js", views_js),
    FILE("wall.css", wall_css),
    FILE("wall.js", wall_js),
};

size_t sleeve_page_file_count(void) { return sizeof files / sizeof files[0]; }

sleeve_page_file sleeve_page_file_at(size_t index) { return files[index]; }
