// Modules with kernels: fills their state, by which NVSHMEM's functions in kernels know the teams.
#include <cstdio>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "atoll/device/resident.hpp"
#include "atoll_nvshmem/state.h"
#include "nvshmem/front.hpp"
#include "shmem/checks.hpp"
#include "shmem/front.hpp"

namespace atl::nvshmem {

using nvshmem_kernel::Module;
using nvshmem_kernel::State;
using shmem::Call;

namespace {

constexpr const char* state_symbol = "nvshmemi_device_state_d";

/// Functions of CUDA's driver, which is loaded only if the program has modules of its own.
struct Driver {
    using Address = unsigned long long;
    int (*module_global)(Address*, std::size_t*, CUmodule, const char*);
    int (*library_global)(Address*, std::size_t*, CUlibrary, const char*);
    int (*copy)(Address, const void*, std::size_t);

    Driver() {
        void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
                library != nullptr ? ::dlsym(library, name) : nullptr);
            if (function == nullptr)
                throw Error(ErrorCode::unsupported, std::string("CUDA's driver (libcuda.so.1) has no ") +
                                                        name + ". Install a driver for CUDA 12 or later.");
        };
        find(module_global, "cuModuleGetGlobal_v2");
        find(library_global, "cuLibraryGetGlobal");
        find(copy, "cuMemcpyHtoD_v2");
    }
};
const Driver& driver() {
    static const Driver loaded;
    return loaded;
}

/// A module of the driver API: the address of its state.
struct DriverModule {
    void* handle;
    Driver::Address state;
    unsigned long filled;
};

std::mutex filling;  // guards what follows
Module* modules = nullptr;
std::vector<DriverModule> driver_modules;
unsigned long newest = 1;  // number of the teams' state; grows with each change

device::Team in_kernels(nvshmem_team_t number, bool far) {
    const shmem_team_t team = handle(number);
    if (team == SHMEM_TEAM_INVALID) return {};
    try {
        return shmem::team_of(team).device(Memory::device, far);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::unsupported) return {};  // kernels that use it are refused
        throw;
    }
}

std::unique_ptr<State> make_state(bool far) {
    auto state = std::make_unique<State>();
    for (int i = 0; i < nvshmem_kernel::most_teams; ++i) state->teams[i] = in_kernels(i, far);
    state->world = state->teams[NVSHMEM_TEAM_WORLD];
    return state;
}

void say_not_filled(int status) {
    std::fprintf(
        stderr,
        "atoll: a source file with kernels of NVSHMEM's functions cannot run on this GPU: CUDA's error %d. "
        "Compile it for this GPU (nvcc -arch=native), and call cudaSetDevice before the first "
        "nvshmem_malloc.\n",
        status);
}

void fill(const Call& call, DriverModule& module) {
    const std::unique_ptr<State> state = make_state(false);
    const int status = driver().copy(module.state, state.get(), sizeof *state);
    if (status != 0)
        throw Error(ErrorCode::unsupported,
                    std::string(call.name) + ": CUDA's error " + std::to_string(status) +
                        " when the module's state was copied. The module must be loaded "
                        "in the current context.");
    module.filled = newest;
}

/// Adds a module of the driver API, whose state `find` finds.
template <class Find> int add(const char* name, void* handle, Find&& find) {
    const Call call{name, SHMEM_CTX_DEFAULT};
    return shmem::guarded(call, [&]() -> int {
        shmem::context_of(call);
        if (choose_memory() != Memory::device) return NVSHMEMX_ERROR_NOT_SUPPORTED;
        fill_modules();
        Driver::Address address = 0;
        std::size_t bytes = 0;
        if (find(&address, &bytes) != 0 || bytes != sizeof(State)) {
            std::fprintf(stderr,
                         "atoll: %s: the module has no %s of %zu bytes; compile it with the nvshmem.h of "
                         "this Atoll, and without NVSHMEM's own library for kernels.\n",
                         name, state_symbol, sizeof(State));
            return NVSHMEMX_ERROR_INVALID_VALUE;
        }
        const std::lock_guard lock(filling);
        driver_modules.push_back({handle, address, 0});
        fill(call, driver_modules.back());
        return NVSHMEMX_SUCCESS;
    });
}
int drop(void* handle) {
    const std::lock_guard lock(filling);
    return std::erase_if(driver_modules, [&](const DriverModule& m) { return m.handle == handle; }) > 0
               ? NVSHMEMX_SUCCESS
               : NVSHMEMX_ERROR_INVALID_VALUE;
}

}  // namespace

void fill_modules() {
    if (!is_on_gpu()) return;
    const std::lock_guard lock(filling);
    for (Module* module = modules; module != nullptr; module = module->next) {
        if (module->filled == newest) continue;
        const std::unique_ptr<State> state = make_state(module->far != 0);
        const int status = module->fill(state.get(), sizeof *state);
        if (status != 0) say_not_filled(status);
        module->filled = newest;
    }
    for (DriverModule& module : driver_modules)
        if (module.filled != newest) fill({"nvshmem_team_split_strided", SHMEM_CTX_DEFAULT}, module);
}

bool has_modules() noexcept {
    const std::lock_guard lock(filling);
    return modules != nullptr;
}

void prepare_modules(const Call& call) {
    shmem::guarded(call, [&] {
        shmem::context_of(call);
        choose_memory();
        fill_modules();
    });
}

void tell_modules(nvshmem_team_t changed) {
    if (changed < 0 || changed >= nvshmem_kernel::most_teams) return;
    {
        const std::lock_guard lock(filling);
        ++newest;
    }
    fill_modules();
}

void forget_modules() noexcept {
    const std::lock_guard lock(filling);
    ++newest;
    driver_modules.clear();
}

int cumodule_init(CUmodule module) {
    return add("nvshmemx_cumodule_init", module, [&](Driver::Address* address, std::size_t* bytes) {
        return driver().module_global(address, bytes, module, state_symbol);
    });
}
int cumodule_finalize(CUmodule module) { return drop(module); }
int culibrary_init(CUlibrary library) {
    return add("nvshmemx_culibrary_init", library, [&](Driver::Address* address, std::size_t* bytes) {
        return driver().library_global(address, bytes, library, state_symbol);
    });
}
int culibrary_finalize(CUlibrary library) { return drop(library); }

}  // namespace atl::nvshmem

// ---- functions of atoll_nvshmem/launch.h, which compiled programs call
#pragma GCC visibility push(default)
extern "C" {

void atoll_nvshmem_add_module(atl::nvshmem_kernel::Module* module) {
    const std::lock_guard lock(atl::nvshmem::filling);
    module->next = atl::nvshmem::modules;
    atl::nvshmem::modules = module;
}
void atoll_nvshmem_remove_module(atl::nvshmem_kernel::Module* module) {
    const std::lock_guard lock(atl::nvshmem::filling);
    for (auto** at = &atl::nvshmem::modules; *at != nullptr; at = &(*at)->next)
        if (*at == module) {
            *at = module->next;
            return;
        }
}
void atoll_nvshmem_prepare_launch() {
    atl::nvshmem::prepare_modules({"nvshmemx_collective_launch", SHMEM_CTX_DEFAULT});
}
int atoll_nvshmem_resident_share(int gpu, int blocks) { return atl::detail::resident_share(gpu, blocks); }
}
#pragma GCC visibility pop
