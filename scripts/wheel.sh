#!/usr/bin/env bash
# Makes a wheel in dist/ and checks it: its symbols, its GPUs, and a job from an environment without anything else.
# Made from build/release, the tree of the tests. Only the kernels are compiled again, for every GPU. The wheels of a
# release are for older systems, so wheels.sh compiles all for them.
source "$(dirname "$0")/lib.sh"
begin wheel

release=$PWD/build/release
everywhere=$PWD/build/wheel/environment

# Builds the wheel. It has kernels for every GPU if the CUDA toolkit is installed, else no GPU part.
make_wheel() {
    rm -rf dist/*.whl
    configure release -DPython_EXECUTABLE="$PWD/$python"
    local targets=atoll_package component=python_cuda
    if ninja -C "$release" -t query atoll_cuda_every_gpu >/dev/null 2>&1; then
        targets+=";atoll_cuda_every_gpu" component=python_every_gpu
    fi
    "$python" -m pip wheel --no-build-isolation --no-deps --config-settings=build-dir="$release" --config-settings=build.targets="$targets" \
        --config-settings=install.components="python;$component" --config-settings=wheel.tags="$(tag)" -w dist .
}
# The oldest systems for which the wheel is. Its symbols are checked against this promise.
tag() {
    "$python" -c 'import sys, sysconfig
abi = sysconfig.get_config_var("SOABI").split("-")[1] # such as 311, or 314t if it is free-threaded
print("cp" + abi.rstrip("t"), "cp" + abi, "_".join(sys.argv[1:]), sep="-")' "${ATOLL_BUILD_WHEEL_PLATFORM:-manylinux_2_34}" "$(uname -m)"
}
symbols() {
    "$python" scripts/wheel_symbols.py dist/*.whl
}
gpus() {
    "$python" scripts/wheel_gpus.py dist/*.whl
}
install_wheel() {
    rm -rf "$everywhere"
    "$python" -m venv "$everywhere"
    again "$everywhere/bin/python" -m pip install --disable-pip-version-check dist/*.whl
}
# Runs like a user: without our variables and files.
run_wheel() (
    unset PYTHONPATH VIRTUAL_ENV LD_LIBRARY_PATH
    # Joined, since `check` ends at no failed command of a function.
    cd "$everywhere" && bin/python -c 'import atoll; print(atoll.__version__, atoll.__file__)' && bin/atoll info &&
        bin/atoll run -n 2 bin/python -c 'if True:
        import atoll
        atoll.init()
        x = atoll.zeros(1, "i8")
        atoll.put(x, [atoll.my_pe() + 1], pe=1 - atoll.my_pe())
        atoll.barrier_all()
        assert x[0] == 2 - atoll.my_pe(), x
        print("PE", atoll.my_pe(), "of", atoll.n_pes())
        atoll.finalize()'
)

check "wheel" make_wheel
[ "$checked" -ne 0 ] || check "its symbols" symbols
[ "$checked" -ne 0 ] || check "its GPUs" gpus
[ "$checked" -ne 0 ] || check "into a new environment" install_wheel
[ "$checked" -ne 0 ] || check "a job from there" run_wheel
ls -1 dist/*.whl
[ -n "${ATOLL_BUILD_NO_CLOSING:-}" ] || closing wheel
