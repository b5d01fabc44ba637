# Sourced by the scripts beside it: the Python module, built for the Python of this machine.
#
# The library and the launcher are built on another machine: bring build/release/bin/atoll and build/release/lib, with the
# bitcode libnvshmem_device.bc (which needs clang there). This
# machine needs g++, NumPy and nanobind. STAGE: the folder of the package, /tmp/atoll-python by default.
export STAGE=${STAGE:-/tmp/atoll-python}

build_module() {
    local objects=$STAGE/objects include suffix
    mkdir -p "$STAGE/atoll/lib" "$objects"
    cp -r python/atoll/. "$STAGE/atoll/"
    cp build/release/lib/libatoll*.so* "$STAGE/atoll/lib/"
    cp -r include "$STAGE/atoll/"
    mkdir -p "$STAGE/atoll/nvshmem/lib"
    cp build/release/lib/libnvshmem_device.bc "$STAGE/atoll/nvshmem/lib/" # the bitcode, for Triton
    include=$(python3 -c '
import nanobind, numpy, sysconfig
from pathlib import Path
nb = Path(nanobind.include_dir())
robin = [p.parent.parent for p in nb.parent.rglob("robin_map.h")]
folders = [sysconfig.get_path("include"), numpy.get_include(), nb, *robin]
print(*(f"-isystem {folder}" for folder in folders))')
    suffix=$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
    local source
    source=$(python3 -c 'import nanobind; print(nanobind.source_dir())')/nb_combined.cpp
    local flags="-std=c++20 -O2 -DNDEBUG -fPIC -fvisibility=hidden -fno-stack-protector -Iinclude -Isrc -Ipython/src -Ibuild/release/generated/include
        -DNPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION -DNPY_TARGET_VERSION=NPY_2_0_API_VERSION -DNB_COMPACT_ASSERTIONS $include"
    # shellcheck disable=SC2086
    { find python/src -name "*.cpp"; printf "%s\n" "$source"; } | xargs -P "$(nproc)" -I{} sh -c \
        'g++ '"$(echo $flags)"' -w -fno-strict-aliasing -c "{}" -o "$1/$(basename "{}").o"' - "$objects" || return 1
    g++ -shared -o "$STAGE/atoll/_atoll$suffix" "$objects"/*.o -L"$STAGE/atoll/lib" -latoll -Wl,-rpath,'$ORIGIN/lib'
}

# python_module: makes the package in $STAGE, once, and lets Python find it.
python_module() {
    export PYTHONPATH=$STAGE LD_LIBRARY_PATH=$STAGE/atoll/lib
    chmod +x "$built"/bin/* "$built"/bench/* 2>/dev/null
    if [ ! -e "$STAGE/atoll/built" ]; then
        try "module for $(python3 --version)" build_module
        [ "$failed" -eq 0 ] || exit 1
        touch "$STAGE/atoll/built"
    fi
    # numba-cuda 0.30 uses a name that NumPy 2.5 has removed.
    cat >"$STAGE/sitecustomize.py" <<'PYTHON'
import numpy
if not hasattr(numpy, "row_stack"):
    numpy.row_stack = numpy.vstack
PYTHON
}
