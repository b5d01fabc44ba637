#include "gpu/device_plugin.hpp"

#include "atoll/error.hpp"

#include <dlfcn.h>
#include <glob.h>

#include <cstring>
#include <filesystem>
#include <vector>

namespace atl::gpu {

namespace {

constexpr const char* file_name = "libatoll_cuda.so";

/// Adds the folder of a wheel: its bin/ is beside lib/, which contains the package.
void add_package_paths(const std::filesystem::path& prefix, std::vector<std::string>& found) {
    glob_t here{};
    const std::string pattern = prefix / "lib/python3.*/site-packages/atoll/lib" / file_name;
    if (::glob(pattern.c_str(), 0, nullptr, &here) == 0)
        found.insert(found.end(), here.gl_pathv, here.gl_pathv + here.gl_pathc);
    ::globfree(&here);
}

/// Candidates for the library: beside the object that contains this code (libatoll.so, or our own
/// executable), then the loader's search path.
std::vector<std::string> candidates() {
    std::vector<std::string> found;
    Dl_info self{};
    if (::dladdr(reinterpret_cast<const void*>(&device_plugin), &self) != 0 && self.dli_fname) {
        const auto folder = std::filesystem::absolute(self.dli_fname).parent_path();
        found.push_back((folder / file_name).string());
        if (folder.filename() != "lib") found.push_back((folder.parent_path() / "lib" / file_name).string());
        if (folder.filename() == "bin") add_package_paths(folder.parent_path(), found);
    }
    found.emplace_back(file_name);
    return found;
}

void* open_library() {
    std::string tried;
    for (const std::string& path : candidates()) {
        if (path.find('/') != std::string::npos && !std::filesystem::exists(path)) {
            tried += (tried.empty() ? "" : ", ") + path;
            continue;
        }
        if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
        tried += (tried.empty() ? "" : ", ") + std::string(::dlerror());
    }
    throw Error(
        ErrorCode::unsupported,
        std::string("Memory on a GPU needs ") + file_name +
            ", which this build of Atoll does not have (building it needs the CUDA toolkit); searched: " +
            tried + ".");
}

const DevicePlugin& load() {
    void* library = open_library();
    const auto* plugin = static_cast<const DevicePlugin*>(::dlsym(library, device_plugin_symbol));
    if (!plugin || std::strcmp(plugin->release, ATOLL_VERSION) != 0)
        throw Error(ErrorCode::unsupported, std::string(file_name) + " is of Atoll " +
                                                (plugin ? plugin->release : "of another kind") +
                                                ", the library that loads it of " ATOLL_VERSION
                                                "; install both from one build.");
    return *plugin;
}

bool is_installed() {
    for (const std::string& path : candidates())
        if (path.find('/') != std::string::npos && std::filesystem::exists(path)) return true;
    void* const library = ::dlopen(file_name, RTLD_LAZY | RTLD_LOCAL);
    return library != nullptr;
}

}  // namespace

std::string describe_device_plugin() {
    if (!is_installed()) return "no GPU part here (building it needs the CUDA toolkit)";
    try {
        const DevicePlugin& plugin = device_plugin();
        Dl_info where{};
        const bool known = ::dladdr(&plugin, &where) != 0 && where.dli_fname;
        return std::string(plugin.built) + (known ? std::string(", ") + where.dli_fname : "");
    } catch (const Error& error) {
        return error.what();
    }
}

const DevicePlugin& device_plugin() {
    static const DevicePlugin& plugin = load();  // if it throws, the next call tries again
    return plugin;
}

}  // namespace atl::gpu
