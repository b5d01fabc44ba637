// Environment variables of other libraries.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "atoll/export.hpp"

namespace atl::common {

ATOLL_API std::optional<std::string> foreign_variable(const char* name);

/// Sets variables to empty, for its lifetime, unless they are set.
class EmptyUnlessSet {
  public:
    explicit EmptyUnlessSet(std::initializer_list<const char*> names);
    ~EmptyUnlessSet();
    EmptyUnlessSet(const EmptyUnlessSet&) = delete;
    EmptyUnlessSet& operator=(const EmptyUnlessSet&) = delete;

  private:
    std::vector<const char*> emptied_;
};

}  // namespace atl::common
