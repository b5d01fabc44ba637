#include "common/settings/foreign_environment.hpp"

#include <cstdlib>

namespace atl::common {

std::optional<std::string> foreign_variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
}

EmptyUnlessSet::EmptyUnlessSet(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (!std::getenv(name) && ::setenv(name, "", 0) == 0) emptied_.push_back(name);
}

EmptyUnlessSet::~EmptyUnlessSet() {
    for (const char* name : emptied_) ::unsetenv(name);
}

}  // namespace atl::common
