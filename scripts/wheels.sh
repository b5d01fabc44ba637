#!/usr/bin/env bash
# Makes the wheels of a release in dist/, by packaging/wheels.tsv, and tries each on the Pythons that the table names.
# A wheel for this machine is tried by root in folders of other Debians, one for another machine under qemu-user.
#
#   wheels.sh           all wheels
#   wheels.sh WORD...   those whose line has all these words: aarch64, or x86_64 cp312-abi3
source "$(dirname "$0")/lib.sh"
source scripts/roots.sh
source scripts/pythons.sh
begin wheels

platform=manylinux_2_28
# Each Debian has a Python that runs, with NumPy's libstdc++, and headers for the build.
packages=(coreutils dash python3-venv libstdc++6 libpython3-dev libcli11-dev nlohmann-json3-dev)
audits=$work/auditwheel/bin

# The rows of the table with all given words.
rows() {
    local row word
    while read -r row; do
        for word in "$@"; do [[ " ${row//[$'\t',]/ } " == *" $word "* ]] || continue 2; done
        printf '%s\n' "$row"
    done < <(grep -v '^#' packaging/wheels.tsv)
}

# Makes a sysroot: the C library of Debian 11, and headers. Links to /lib would leave it, so they become relative.
sysroot() {
    local root=$work/bullseye-$machine at
    unpack bullseye "$machine" coreutils dash libc6-dev libstdc++6 &&
        unpack bookworm "$machine" "${packages[@]}" || return 1
    find "$root" -lname '/*' | while read -r at; do ln -sfnr "$root$(readlink "$at")" "$at"; done
    mkdir -p "$root/usr/share" &&
        cp -a "$work/bookworm-$machine"/usr/include/{CLI,nlohmann} "$root/usr/include" &&
        cp -a "$work/bookworm-$machine/usr/share/cmake" "$root/usr/share" &&
        exceptions
}
# The linker reads only the names and versions of a shared library, so this one has the system's name and empty functions.
exceptions() {
    sed -nE 's/^ +(\w+);$/void \1(void) {}/p' cmake/exceptions.map |
        "$machine-linux-gnu-gcc" -w -shared -nostdlib -fPIC -x c - -Wl,--version-script=cmake/exceptions.map \
            -Wl,-soname,libstdc++.so.6 -o "$work/bullseye-$machine/usr/lib/$machine-linux-gnu/libexceptions.so"
}
# python_headers SUITE/NAME: puts Python's headers into the sysroot, since one includes another by its path in /usr/include.
python_headers() {
    local from=$work/${1%/*}-$machine/usr/include to=$work/bullseye-$machine/usr/include name=${1#*/}
    if [ "${1%/*}" = source ]; then
        cp -a "$(folder_of "$name" "$machine")/usr/include/$name" "$to"
        return
    fi
    unpack "${1%/*}" "$machine" "${packages[@]}" &&
        cp -a "$from/$name" "$to" && cp -a "$from/$machine-linux-gnu/$name" "$to/$machine-linux-gnu"
}

# The modules of PyTorch's backend.
torch_modules() {
    local root=$work/bullseye-$machine torch name folders=()
    torch=$(compgen -G "$PWD/build/torch/lib/python3.*/site-packages/torch") || return 1
    for name in ${modules//,/ }; do
        if [[ $name == */* ]]; then
            python_headers "$name" || return 1
            folders+=("$root/usr/include/${name#*/}")
        else
            folders+=("$("$(python_here "$name")" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')") || return 1
        fi
    done
    "$python" packaging/torch_modules.py --machine "$machine" "$prebuilt" "$torch" "$root" "${folders[@]}"
}

make_wheel() {
    rm -f dist/atoll-*-"$tag-${platform}_$machine".whl
    local root=$work/bullseye-$machine
    "$python" -m pip wheel --no-build-isolation --no-deps --config-settings=build-dir="$work/tree-$machine" \
        --config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/cmake/sysroot.cmake" --config-settings=cmake.define.ATOLL_MACHINE="$machine" \
        --config-settings=cmake.define.ATOLL_SYSROOT="$root" --config-settings=cmake.define.ATOLL_PYTHON_HEADERS="$root/usr/include/${headers#*/}" \
        --config-settings=cmake.define.ATOLL_TORCH_MODULES="$prebuilt" --config-settings=wheel.tags="$tag-${platform}_$machine" -w dist .
}

# auditwheel computes the oldest systems itself; they must be those of the tag, or older. It knows no libraries but the
# system's, so it reads a copy without the modules for PyTorch, whose symbols scripts/wheel_symbols.py has checked.
install_auditwheel() {
    python3 -m venv --clear "$work/auditwheel" && again "$audits/pip" install -q --disable-pip-version-check auditwheel abi3audit
}
audit() {
    local said oldest plain=$work/plain/${wheel##*/}
    rm -rf "$work/plain" && mkdir "$work/plain" && "$python" packaging/torch_modules.py --remove "$wheel" "$plain" || return 1
    said=$("$audits/auditwheel" show "$plain") && say "$said" || return 1
    oldest=$(tr '\n' ' ' <<<"$said" | sed -nE 's/.*following platform tag: *"(manylinux_[0-9_]+)_'"$machine"'".*/\1/p')
    [ -n "$oldest" ] && [ "$(printf '%s\n' "$oldest" "$platform" | sort -V | tail -n 1)" = "$platform" ]
}

# A later Python may lack a name outside the stable ABI. Only the module is read, because abi3audit fails at
# libnvshmem.so, a text for the linker.
stable_abi() {
    local minor=${tag#cp3}
    rm -rf "$work/module" && "$python" -m zipfile -e "$wheel" "$work/module" &&
        "$audits/abi3audit" --strict --verbose --assume-minimum-abi3 "3.${minor%%-*}" "$work"/module/atoll/_atoll.abi3.so
}

# Each way to try a wheel is two checks, installation and a job, so that the output shows the time of each.
in_suite() {
    local name=$1-$machine
    unpack "$1" "$machine" "${packages[@]}" || return 1
    rm -rf "$work/$name"/{src,atoll} && mkdir "$work/$name/src" && cp "$wheel" packaging/try_wheel.py "$work/$name/src" &&
        inside "$name" python3 -m venv /atoll
}
install_in_suite() { again inside "$1-$machine" /atoll/bin/pip install --disable-pip-version-check "${wheel##*/}"; }
run_in_suite() { inside "$1-$machine" /atoll/bin/atoll run -n 2 /atoll/bin/python try_wheel.py; }

# place_under_qemu PLACE: sets the folder with libraries, the interpreter, and its version, such as 3.13t.
place_under_qemu() {
    root=$work/$1-$machine interpreter=$root/usr/bin/python3
    if [[ $1 == python* ]]; then
        root=$work/bookworm-$machine interpreter=$(folder_of "$1" "$machine")/usr/bin/$1 version=${1#python}
    else
        version=$(basename "$(readlink "$interpreter")") version=${version#python}
    fi
}
under_qemu() {
    local root interpreter version
    [[ $1 == python* ]] || unpack "$1" "$machine" "${packages[@]}" || return 1
    place_under_qemu "$1" && rm -rf "$root/atoll"
}
install_under_qemu() {
    local root interpreter version
    place_under_qemu "$1"
    again "$python" -m pip install --disable-pip-version-check --target "$root/atoll" --only-binary=:all: \
        --platform "${platform}_$machine" --implementation cp --abi "cp${version//./}" \
        --python-version "${version%t}" "$wheel"
}
run_under_qemu() {
    local root interpreter version emulate
    place_under_qemu "$1"
    emulate=(env PYTHONPATH="$root/atoll" "qemu-$machine" -L "$root")
    "${emulate[@]}" "$root/atoll/bin/atoll" run -n 2 "${emulate[@]}" "$interpreter" packaging/try_wheel.py
}

# python_here NAME: prints a program of this machine, such as python3.12. Those of pyenv are not on PATH.
python_here() {
    local program
    for program in "$(folder_of "$1" "$(uname -m)")/usr/bin/$1" "$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/${1#python}".*/bin/"$1"; do
        if "$program" --version >/dev/null 2>&1; then
            printf '%s\n' "$program"
            return 0
        fi
    done
    return 1
}
on_this_machine() { rm -rf "$work/on-$1" && "$(python_here "$1")" -m venv "$work/on-$1"; }
# The newest NumPy may have no wheel for an older Python; its source is not compiled here.
install_on_this_machine() { again "$work/on-$1/bin/pip" install --disable-pip-version-check --only-binary=:all: "$wheel"; }
run_on_this_machine() (
    unset PYTHONPATH VIRTUAL_ENV LD_LIBRARY_PATH
    "$work/on-$1/bin/atoll" run -n 2 "$work/on-$1/bin/python" packaging/try_wheel.py
)
# PyTorch of build/torch takes the module of the wheel: no compiler is found, and the cache is empty.
torch_on_this_machine() (
    unset VIRTUAL_ENV LD_LIBRARY_PATH
    PYTHONPATH=$(compgen -G "$PWD/build/torch/lib/$1/site-packages") ATOLL_TORCH_CACHE=$work/on-$1/empty CXX=none \
        "$work/on-$1/bin/atoll" run -n 2 "$work/on-$1/bin/python" packaging/try_torch.py
)

# OpenSHMEM in C on the oldest system at hand, whose glibc is 2.31. No Python there is new enough.
c_on_debian_11() {
    local root=$work/bullseye-$machine triplet=$machine-linux-gnu emulate
    rm -rf "$root/src" && mkdir "$root/src" && "$python" -m zipfile -e "$wheel" "$root/src" &&
        mv "$root"/src/*.data/scripts/atoll "$root/src/launcher" && chmod +x "$root/src/launcher" &&
        "$triplet-gcc" --sysroot="$root" -B"$root/usr/lib/$triplet" -L"$root/lib/$triplet" -L"$root/usr/lib/$triplet" \
            -I"$root/src/atoll/include" examples/openshmem/ring.c -o "$root/src/ring" -L"$root/src/atoll/lib" \
            -latoll_shmem -latoll -Wl,-rpath,"\$ORIGIN/atoll/lib" || return 1
    if [ "$machine" = "$(uname -m)" ]; then
        inside "bullseye-$machine" ./launcher run -n 2 ./ring
    else
        emulate=("qemu-$machine" -L "$root")
        "${emulate[@]}" "$root/src/launcher" run -n 2 "${emulate[@]}" "$root/src/ring"
    fi
}

# lacking PLACE: prints the reason why nothing can be tried there.
lacking() {
    if [ "$machine" != "$(uname -m)" ]; then
        command -v "qemu-$machine" >/dev/null || echo "needs qemu-user"
    elif [[ $1 == python* ]]; then
        python_here "$1" >/dev/null || echo "this machine has no $1"
    else
        may_mount || echo "needs root and the right to mount"
    fi
}
# try_on PLACE: tries the wheel in a suite of Debian, or on a Python of this machine.
try_on() {
    local how=in_suite name="$tag $machine on $1" lacks
    lacks=$(lacking "$1")
    [ -z "$lacks" ] || { skip "$name" "$lacks"; return 0; }
    if [ "$machine" != "$(uname -m)" ]; then how=under_qemu; elif [[ $1 == python* ]]; then how=on_this_machine; fi
    step "$name: a system" "$how" "$1" || true # without one, the installation fails and counts
    check "$name: pip install" "install_$how" "$1"
    [ "$checked" -ne 0 ] || check "$name: a job" "run_$how" "$1"
    [[ ,$modules, =~ [,/]"$1", ]] || return 0
    if [ -d "build/torch/lib/$1" ]; then
        check "$name: PyTorch" torch_on_this_machine "$1"
    else
        skip "$name: PyTorch" "build/torch is of another Python"
    fi
}

make_and_try() {
    local machine=$1 tag=$2 headers=$3 modules=$4 places=$5 wheel place lacks prebuilt=$work/torch-modules/$2-$1
    check "sysroot $machine" sysroot
    [ "$checked" -eq 0 ] || return 0
    [[ $headers != source/* ]] || check "${headers#*/} $machine" free_threaded "${headers#*/}" "$machine"
    [ "$checked" -eq 0 ] || return 0
    check "$tag $machine: Python's headers" python_headers "$headers"
    rm -rf "$prebuilt" && mkdir -p "$prebuilt"
    if [ "$modules" != - ] && [ -e build/torch/packages ]; then
        check "$tag $machine: modules for PyTorch" torch_modules
    elif [ "$modules" != - ]; then
        skip "$tag $machine: modules for PyTorch" "needs build/torch (scripts/setup.sh torch)"
    fi
    check "$tag $machine" make_wheel
    [ "$checked" -eq 0 ] || return 0
    wheel=$(ls "$PWD"/dist/atoll-*-"$tag-${platform}_$machine".whl)
    check "$tag $machine: symbols" "$python" scripts/wheel_symbols.py "$wheel"
    check "$tag $machine: GPUs" "$python" scripts/wheel_gpus.py "$wheel"
    check "$tag $machine: auditwheel" audit
    [[ $tag != *-abi3 ]] || check "$tag $machine: abi3audit" stable_abi
    for place in ${places//,/ }; do try_on "$place"; done
    lacks=$(lacking bullseye)
    if [ -z "$lacks" ]; then check "$tag $machine: C on Debian 11" c_on_debian_11; else skip "$tag $machine: C on Debian 11" "$lacks"; fi
}

# Without words this makes a release, which has no other wheels.
[ $# -ne 0 ] || rm -f dist/atoll-*.whl
[ -n "$(rows "$@")" ] || { say "No wheel in packaging/wheels.tsv matches: $*"; exit 1; }
[ -x "$audits/abi3audit" ] || step "auditwheel" install_auditwheel
while IFS=$'\t' read -r tag machine headers modules places _; do
    make_and_try "$machine" "$tag" "$headers" "$modules" "$places"
done < <(rows "$@")
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing wheels
