#include "cli/installed_tree.hpp"

#include <filesystem>
#include <glob.h>
#include <system_error>

#include "cli/command/command.hpp"

namespace atl::cli {
namespace {

bool is_tree(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder / "include/shmem.h", ignored) &&
           std::filesystem::exists(folder / "lib", ignored);
}

}  // namespace

std::string installed_tree() {
    const std::filesystem::path bin = executable_folder();
    if (is_tree(bin.parent_path())) return bin.parent_path();
    for (const char* pattern :
         {"/../lib*/python3*/site-packages/atoll", "/../lib*/python3*/dist-packages/atoll"}) {
        glob_t found{};
        const int status = ::glob((bin.string() + pattern).c_str(), 0, nullptr, &found);
        const std::string folder = status == 0 ? found.gl_pathv[0] : "";
        ::globfree(&found);
        if (!folder.empty() && is_tree(folder)) return std::filesystem::canonical(folder);
    }
    return {};
}

}  // namespace atl::cli
