#include "cli/torch_modules.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include "cli/installed_tree.hpp"
#include "common/settings/job_environment.hpp"

namespace atl::cli {
namespace {

namespace fs = std::filesystem;
using common::environment_value;

/// The folders that the backend searches, in its order: that of a wheel, then the caches.
std::vector<fs::path> folders_of_modules() {
    std::vector<fs::path> folders;
    if (const std::string tree = installed_tree(); !tree.empty())
        folders.push_back(fs::path(tree) / "_c10d/prebuilt");
    if (const std::string own = environment_value("ATOLL_TORCH_CACHE"); !own.empty()) {
        folders.emplace_back(own);
        return folders;
    }
    const std::string base = environment_value("XDG_CACHE_HOME"), home = environment_value("HOME");
    if (!base.empty())
        folders.push_back(fs::path(base) / "atoll/torch");
    else if (!home.empty())
        folders.push_back(fs::path(home) / ".cache/atoll/torch");
    const std::string temporary = environment_value("TMPDIR");
    folders.push_back(fs::path(temporary.empty() ? "/tmp" : temporary) /
                      ("atoll-torch-" + std::to_string(::getuid())));
    return folders;
}

bool has_module(const fs::path& folder) {
    std::error_code error;
    for (const fs::directory_entry& file : fs::directory_iterator(folder, error))
        if (file.path().filename().string().starts_with("_atoll_c10d.") && file.path().extension() == ".so")
            return true;
    return false;
}

}  // namespace

std::vector<std::string> torch_modules() {
    std::vector<std::string> names;
    for (const fs::path& parent : folders_of_modules()) {
        std::error_code error;
        for (const fs::directory_entry& folder : fs::directory_iterator(parent, error))
            if (has_module(folder.path())) names.push_back(folder.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace atl::cli
