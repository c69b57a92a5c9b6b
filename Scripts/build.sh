# Sourced: builds release executables when they are older than what they are made of.
# Expects `root`, the checkout.

release="$root/.build/release"

# show_progress PID LOG: waits for a build, and says now and then how far it is. Returns what the build returned.
show_progress() {
    local waited=0 step
    while kill -0 "$1" 2>/dev/null; do
        sleep 0.5
        waited=$((waited + 1))
        [ $((waited % 60)) = 0 ] || continue
        step=$(grep -oE '^\[[0-9]+/[0-9]+\]' "$2" | tail -n 1) || true
        [ -z "$step" ] || say "building: $step"
    done
    wait "$1"
}

# build_release PRODUCT [TOOL…]: sets up and builds if needed; a few milliseconds when nothing changed.
build_release() {
    local product=$1 binary="$release/$1" stamp="$root/.build/$1.built"
    shift
    # The stamp is as old as the start of the last good build: a source touched during it counts as newer. Folders are
    # looked at too, so a file that went away is noticed.
    if [ -x "$binary" ] && [ -e "$stamp" ]; then
        [ -n "$(find "$root/Sources" "$root/Tests/LookupBench" "$root/Package.swift" -newer "$stamp" -print -quit)" ] || return 0
    fi
    . "$root/Scripts/setup" "$@"
    mkdir -p "$root/.build"
    local flags=(--package-path "$root" -c release --product "$product")
    # Without the stdlib's shared libraries the process starts in half the time; 26,000 symbols exported to nobody and folders
    # searched in vain would cost it some milliseconds more.
    if [ "$(uname -s)" != Darwin ]; then
        flags+=(--static-swift-stdlib --disable-local-rpath -Xlinker --no-export-dynamic)
    fi
    if [ -x "$binary" ]; then say "building $product"; else say "building $product; the first time takes some minutes"; fi
    touch "$stamp.new"
    local log="$root/.build/$product.log"
    swift build "${flags[@]}" >"$log" 2>&1 &
    if ! show_progress $! "$log"; then
        cat "$log" >&2
        fail "building $product failed"
    fi
    mv "$stamp.new" "$stamp"
}
