#include "transport/ucx/library.hpp"

#include "atoll/error.hpp"
#include "common/settings/foreign_environment.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <vector>

namespace atl::transport::ucx {
namespace {

constexpr const char* soname = "libucp.so.0";

/// Folders in which PyPI's libucx packages install it: beside our own package, or in the virtual environment.
std::vector<std::filesystem::path> package_folders() {
    namespace fs = std::filesystem;
    std::vector<fs::path> found;
    Dl_info self{};
    if (::dladdr(reinterpret_cast<const void*>(&library), &self) != 0 && self.dli_fname)
        found.push_back(fs::absolute(self.dli_fname).parent_path().parent_path().parent_path() / "libucx" /
                        "lib");
    if (const auto environment = common::foreign_variable("VIRTUAL_ENV")) {
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(fs::path(*environment) / "lib", ignored))
            found.push_back(entry.path() / "site-packages" / "libucx" / "lib");
    }
    return found;
}

/// Loads the dependencies of a package's libucp, which its own search path does not find.
void preload(const std::filesystem::path& folder) {
    for (const char* name : {"libucm.so.0", "libucs.so.0", "libuct.so.0"}) {
        const auto file = folder / name;
        if (std::filesystem::exists(file)) ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
}

class Search {
  public:
    void* open(const std::string& given) {
        if (void* loaded = ::dlopen(soname, RTLD_NOW | RTLD_NOLOAD)) return loaded;
        // When loaded, UCX installs handlers for the signals of crashes, which belong to Python or the
        // program. It reads these variables at that moment. Values that the user has set stay.
        const common::EmptyUnlessSet quiet{"UCX_ERROR_SIGNALS", "UCX_DEBUG_SIGNO"};
        if (!given.empty()) {
            preload(std::filesystem::path(given).parent_path());
            return load(given);
        }
        if (void* loaded = load(soname)) return loaded;
        for (const auto& folder : package_folders()) {
            if (!std::filesystem::exists(folder / soname)) {
                tried_ += ", " + (folder / soname).string();
                continue;
            }
            preload(folder);
            if (void* loaded = load((folder / soname).string())) return loaded;
        }
        return nullptr;
    }
    const std::string& tried() const { return tried_; }

  private:
    void* load(const std::string& name) {
        void* loaded = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (!loaded) tried_ += (tried_.empty() ? "" : ", ") + std::string(::dlerror());
        return loaded;
    }
    std::string tried_;
};

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(
        ErrorCode::unsupported,
        sentence +
            " Install it (Debian: apt-get install libucx0; in a clone of Atoll: pip install '.[ucx]'), or "
            "name a libucp.so.0 by ATOLL_UCX_LIBRARY.");
}

template <class Function> void resolve(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    if (!function) refuse(std::string("The UCX found has no function ") + name + ", so it is too old.");
}

void resolve_all(void* handle, Library& ucp) {
    resolve(handle, "ucp_config_read", ucp.config_read);
    resolve(handle, "ucp_config_modify", ucp.config_modify);
    resolve(handle, "ucp_config_release", ucp.config_release);
    resolve(handle, "ucp_init_version", ucp.init_version);
    resolve(handle, "ucp_cleanup", ucp.cleanup);
    resolve(handle, "ucp_context_query", ucp.context_query);
    resolve(handle, "ucp_worker_create", ucp.worker_create);
    resolve(handle, "ucp_worker_destroy", ucp.worker_destroy);
    resolve(handle, "ucp_worker_get_address", ucp.worker_get_address);
    resolve(handle, "ucp_worker_release_address", ucp.worker_release_address);
    resolve(handle, "ucp_worker_get_efd", ucp.worker_get_efd);
    resolve(handle, "ucp_worker_arm", ucp.worker_arm);
    resolve(handle, "ucp_worker_progress", ucp.worker_progress);
    resolve(handle, "ucp_worker_set_am_recv_handler", ucp.worker_set_am_recv_handler);
    resolve(handle, "ucp_ep_create", ucp.ep_create);
    resolve(handle, "ucp_ep_close_nbx", ucp.ep_close_nbx);
    resolve(handle, "ucp_ep_query", ucp.ep_query);
    resolve(handle, "ucp_ep_flush_nbx", ucp.ep_flush_nbx);
    resolve(handle, "ucp_ep_rkey_unpack", ucp.ep_rkey_unpack);
    resolve(handle, "ucp_rkey_pack", ucp.rkey_pack);
    resolve(handle, "ucp_rkey_buffer_release", ucp.rkey_buffer_release);
    resolve(handle, "ucp_rkey_destroy", ucp.rkey_destroy);
    resolve(handle, "ucp_mem_map", ucp.mem_map);
    resolve(handle, "ucp_mem_unmap", ucp.mem_unmap);
    resolve(handle, "ucp_put_nbx", ucp.put_nbx);
    resolve(handle, "ucp_get_nbx", ucp.get_nbx);
    resolve(handle, "ucp_am_send_nbx", ucp.am_send_nbx);
    resolve(handle, "ucp_request_free", ucp.request_free);
    resolve(handle, "ucp_request_check_status", ucp.request_check_status);
    resolve(handle, "ucs_status_string", ucp.status_string);
}

Library load(const std::string& given) {
    Search search;
    void* handle = search.open(given);
    if (!handle)
        refuse("Reaching PEs of other hosts needs UCX, which was not found: " + search.tried() + ".");
    Library ucp{};
    resolve(handle, "ucp_get_version", ucp.get_version);
    resolve(handle, "ucp_get_version_string", ucp.get_version_string);
    unsigned major = 0, minor = 0, patch = 0;
    ucp.get_version(&major, &minor, &patch);
    ucp.version = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
    ucp.minor = minor;
    Dl_info where{};
    if (::dladdr(reinterpret_cast<const void*>(ucp.get_version), &where) != 0 && where.dli_fname)
        ucp.path = where.dli_fname;
    if (major != api_major || minor < api_minor)
        refuse("Reaching PEs of other hosts needs UCX from " + std::to_string(api_major) + "." +
               std::to_string(api_minor) + " on; " + ucp.path + " is " + ucp.version + ".");
    resolve_all(handle, ucp);
    return ucp;
}

}  // namespace

const Library& library(const std::string& given) {
    static std::mutex mutex;
    static std::optional<Library> loaded;
    const std::lock_guard lock(mutex);
    if (!loaded) loaded = load(given);
    return *loaded;
}

}  // namespace atl::transport::ucx
