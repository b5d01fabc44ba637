// NVSHMEM's environment variables besides the aliases of Atoll's settings: the kind of memory, and those
// without effect.
#include <algorithm>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "common/log.hpp"
#include "common/settings/foreign_environment.hpp"
#include "common/text.hpp"
#include "nvshmem/front.hpp"

namespace atl::nvshmem {
namespace {

constexpr std::string_view prefix = "NVSHMEM_";
/// Variables that have an effect, or that name what Atoll finds by itself.
constexpr std::string_view known[] = {"SYMMETRIC_SIZE", "INFO", "VERSION", "DEBUG", "HEAP_KIND",
                                      "BOOTSTRAP",      "HOME", "PREFIX",  "SRC",   "BUILD_DIR"};

}  // namespace

bool wants_host_memory() {
    const std::string word = common::foreign_variable("NVSHMEM_HEAP_KIND").value_or("");
    if (word == "SYSMEM") return true;
    if (word.empty() || word == "DEVICE" || word == "VIDMEM") return false;
    throw Error(ErrorCode::settings,
                "NVSHMEM_HEAP_KIND=" + word + " cannot be read: expected DEVICE or SYSMEM");
}

void warn_about_variables() {
    std::vector<std::string> names;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        if (!name.starts_with(prefix) || name.size() + 1 == text.size()) continue;
        const std::string_view rest = name.substr(prefix.size());
        if (std::find(std::begin(known), std::end(known), rest) == std::end(known)) names.emplace_back(name);
    }
    if (names.empty()) return;
    std::sort(names.begin(), names.end());
    common::warn(common::list_text(names) + (names.size() == 1 ? " has" : " have") +
                 " no effect on Atoll; docs/from-nvshmem.md lists the variables that have.");
}

}  // namespace atl::nvshmem
