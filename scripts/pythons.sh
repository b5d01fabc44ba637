# Sourced by wheels.sh: Pythons without a GIL, such as python3.13t. Debian has no package of them, but their source.

# fetch_source SUITE NAME: puts the archive with the source of a Debian package into $work. apt checks signature and sums.
# The mirror is that of the suite's folder, which `unpack` has made.
fetch_source() {
    local state=$work/apt options
    mkdir -p "$state"/{lists,cache/archives}/partial || return 1
    cat "$work/$1"-*/etc/apt/sources.list | sed -n "s/^deb \(.* $1 .*\)/deb-src \1/p" | sort -u >"$state/sources.list"
    options=(-q -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root
        -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" -o Acquire::Check-Valid-Until=false)
    apt-get "${options[@]}" update && (cd "$work" && apt-get "${options[@]}" source --download-only "$2/$1")
}

# folder_of NAME MACHINE: prints where that Python is built; its files are in usr there.
folder_of() { printf '%s/%s-%s\n' "$work" "$1" "$2"; }

# free_threaded SUITE NAME MACHINE: builds python3.13t from the source of the suite's python3.13. One for another machine
# needs the same Python of this machine, and uses the libraries of Debian 12.
free_threaded() {
    local suite=$1 name=$2 target=$3 folder archive root here options=()
    folder=$(folder_of "$name" "$target") here=$(folder_of "$name" "$(uname -m)")
    [ -e "$folder/done" ] && return 0
    if [ "$target" != "$(uname -m)" ]; then
        free_threaded "$suite" "$name" "$(uname -m)" || return 1
        root=$work/bookworm-$target
        # The libraries are found through a folder without the C library, which the compiler has.
        mkdir -p "$folder/lib" && ln -sf "$root/usr/lib/$target-linux-gnu"/lib{z,expat}.so "$folder/lib/" || return 1
        options=("--host=$target-linux-gnu" "--build=$(uname -m)-linux-gnu" "--with-build-python=$here/usr/bin/$name"
            ac_cv_file__dev_ptmx=yes ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no PKG_CONFIG=false
            CPPFLAGS="-idirafter $root/usr/include" LDFLAGS="-L$folder/lib -Wl,-rpath-link,$root/usr/lib/$target-linux-gnu")
    fi
    compgen -G "$work/${name%t}_*.orig.tar.xz" >/dev/null || again fetch_source "$suite" "${name%t}" || return 1
    archive=$(compgen -G "$work/${name%t}_*.orig.tar.xz")
    rm -rf "$folder"/{source,build,usr} && mkdir -p "$folder"/{source,build} &&
        tar xf "$archive" -C "$folder/source" --strip-components=1 || return 1
    # No tests, since CPython has its own; no profile, since only the wheel is tried.
    (cd "$folder/build" && ../source/configure -q --disable-gil --disable-test-modules --prefix="$folder/usr" "${options[@]}" \
        OPT='-O1 -DNDEBUG' && make -s -j "$jobs" && make -s install ENSUREPIP=no) || return 1
    rm -rf "$folder"/{source,build} && : >"$folder/done"
}
