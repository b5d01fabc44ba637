# Sourced by packages.sh and wheels.sh: folders with the files of other Debians, and commands that run there.
work=$PWD/build/packages
mkdir -p "$work" dist
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

# debian_name MACHINE: prints the name that Debian has for it.
debian_name() { sed 's/x86_64/amd64/; s/aarch64/arm64/' <<<"$1"; }

# unpack SUITE MACHINE PACKAGE...: makes the folder SUITE-MACHINE of these packages and of all that they need. No program of
# theirs runs, so they may be another machine's.
unpack() {
    local root=$work/$1-$2 packages folder
    packages=$(IFS=, && printf '%s' "${*:3}")
    [ "$(cat "$root/unpacked" 2>/dev/null)" = "$packages" ] && return 0
    again extract "$1" "$2" "$packages" &&
        mkdir -p "$root"/{src,proc,sys,dev,root,etc/ssl/certs} &&
        cp /etc/resolv.conf "$root/etc/" &&
        for folder in bin lib lib64 sbin; do # links to usr; on newer Debians a package makes them
            [ -e "$root/$folder" ] || [ ! -e "$root/usr/$folder" ] || ln -s "usr/$folder" "$root/$folder"
        done &&
        cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" &&
        echo "$packages" >"$root/unpacked"
}

# Debian testing's list of packages may be older than its promise. Security updates of Debian 11 are no longer kept for every
# machine, so the packages are those of releases.
extract() {
    # shellcheck disable=SC2016  # expanded by the hook's shell
    rm -rf "$work/$1-$2" &&
        mmdebstrap --variant=extract --architectures="$(debian_name "$2")" --include="$3" \
            --setup-hook='sed -i -E "/-(security|updates) /d" "$1"/etc/apt/sources.list' \
            --aptopt='Acquire::Check-Valid-Until "false"' "$1" "$work/$1-$2"
}

# bootstrap SUITE FOLDER [PACKAGES]: makes the folder a Debian with few packages, and with these, separated by commas. A
# mirror may have a certificate that only this machine knows.
bootstrap() {
    rm -rf "$2" &&
        debootstrap --variant=minbase --include="ca-certificates${3:+,$3}" "$1" "$2" &&
        cp /etc/ssl/certs/ca-certificates.crt "$2/etc/ssl/certs/"
}

# may_mount: true where `inside` works.
may_mount() { [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; }

# inside NAME COMMAND...: runs it in /src of the folder NAME, as if that were a system. The mounts end with it.
inside() {
    local root=$work/$1
    shift
    # shellcheck disable=SC2016  # expanded by the inner shell
    unshare --mount --fork sh -c 'root=$0
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        exec chroot "$root" env -i -C /src HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin PIP_DEFAULT_TIMEOUT=180 \
            PIP_CERT=/etc/ssl/certs/ca-certificates.crt SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" "$@"' "$root" "$@"
}
