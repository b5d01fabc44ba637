# Sourced by wheels.sh: Pythons without a GIL, such as python3.14t. Debian has no package of them. The archives of Debian and
# Ubuntu keep CPython's source as its makers gave it out. Debian testing drops that of a version when the next one comes, so
# 3.14 is that of Ubuntu 26.04.

# source_of NAME: prints the address of CPython's source, and its SHA-256 by the index of that archive. Debian's mirror is
# that of the unpacked Debian 12.
source_of() {
    local debian
    debian=$(cat "$work"/bookworm-*/etc/apt/sources.list | sed -nE 's/^deb (\[[^]]*\] )?([^ ]+) .*/\2/p' | head -n 1)
    case $1 in
        python3.13t)
            echo "$debian/pool/main/p/python3.13/python3.13_3.13.5.orig.tar.xz" \
                93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640
            ;;
        python3.14t)
            echo http://archive.ubuntu.com/ubuntu/pool/main/p/python3.14/python3.14_3.14.4.orig.tar.xz \
                d923c51303e38e249136fc1bdf3568d56ecb03214efdef48516176d3d7faaef8
            ;;
        *) say "scripts/pythons.sh has no source of $1" && return 1 ;;
    esac
}

# fetch_source NAME: puts that archive into $work.
fetch_source() {
    local address sum archive
    read -r address sum < <(source_of "$1") && archive=$work/${address##*/} || return 1
    sha256sum --status -c - <<<"$sum  $archive" 2>/dev/null && return 0
    curl -fsSL --max-time 300 -o "$archive" "$address" && sha256sum -c - <<<"$sum  $archive"
}

# folder_of NAME MACHINE: prints where that Python is built; its files are in usr there.
folder_of() { printf '%s/%s-%s\n' "$work" "$1" "$2"; }

# free_threaded NAME MACHINE: builds python3.14t from that source. One for another machine needs the same Python of this
# machine, and uses the libraries of Debian 12.
free_threaded() {
    local name=$1 target=$2 folder root here options=()
    folder=$(folder_of "$name" "$target") here=$(folder_of "$name" "$(uname -m)")
    [ -e "$folder/done" ] && return 0
    if [ "$target" != "$(uname -m)" ]; then
        free_threaded "$name" "$(uname -m)" || return 1
        root=$work/bookworm-$target
        # The libraries are found through a folder without the C library, which the compiler has.
        mkdir -p "$folder/lib" && ln -sf "$root/usr/lib/$target-linux-gnu"/lib{z,expat}.so "$folder/lib/" || return 1
        options=("--host=$target-linux-gnu" "--build=$(uname -m)-linux-gnu" "--with-build-python=$here/usr/bin/$name"
            ac_cv_file__dev_ptmx=yes ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no PKG_CONFIG=false
            CPPFLAGS="-idirafter $root/usr/include" LDFLAGS="-L$folder/lib -Wl,-rpath-link,$root/usr/lib/$target-linux-gnu")
    fi
    again fetch_source "$name" || return 1
    rm -rf "$folder"/{source,build,usr} && mkdir -p "$folder"/{source,build} &&
        tar xf "$work/$(basename "$(source_of "$name" | cut -d' ' -f 1)")" -C "$folder/source" --strip-components=1 || return 1
    # No tests, since CPython has its own; no profile, since only the wheel is tried.
    (cd "$folder/build" && ../source/configure -q --disable-gil --disable-test-modules --prefix="$folder/usr" "${options[@]}" \
        OPT='-O1 -DNDEBUG' && make -s -j "$jobs" && make -s install ENSUREPIP=no) || return 1
    rm -rf "$folder"/{source,build} && : >"$folder/done"
}
