# Sourced by other scripts: builds release executables that are older than their sources. Expects `root`, the checkout.

release="$root/.build/release"

# show_progress PID LOG: waits for a build and prints its progress every 30 seconds. Returns the build's status.
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

# build_release PRODUCT [TOOL…]: installs what is missing and builds if needed. Takes milliseconds if nothing changed.
build_release() {
    local product=$1 binary="$release/$1" stamp="$root/.build/$1.built"
    shift
    # The stamp has the time at which the last good build started, so a source changed during it counts as newer. Folders are
    # compared too, which detects deleted files.
    if [ -x "$binary" ] && [ -e "$stamp" ]; then
        [ -n "$(find "$root/Sources" "$root/Package.swift" -newer "$stamp" -print -quit)" ] || return 0
    fi
    . "$root/Scripts/setup"
    set_up "$@"
    mkdir -p "$root/.build"
    local flags=(--package-path "$root" -c release --product "$product")
    # A static standard library halves the start-up time. Exported symbols and search paths would cost some milliseconds, and the
    # names for debuggers half the size: without them a crash report has addresses only.
    if [ "$(uname -s)" != Darwin ]; then
        flags+=(--static-swift-stdlib --disable-local-rpath -Xlinker --no-export-dynamic -Xlinker -s)
        # The linker looks for libraries here first. Only Swift's runtime uses the C++ library; binding a shared one's symbols takes a
        # millisecond.
        local products
        products=$(swift build "${flags[@]}" --show-bin-path)
        mkdir -p "$products"
        ln -sf "$(clang -print-file-name=libstdc++.a)" "$products/"
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
