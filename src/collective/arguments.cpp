#include "collective/arguments.hpp"

#include <string>

#include "atoll/error.hpp"

namespace atl::collective {

void throw_shape(const char* operation, const char* argument, std::size_t passed, std::size_t expected,
                 const char* unit) {
    throw Error(ErrorCode::shape_mismatch,
                std::string(operation) + ": " + argument + " has " + std::to_string(passed) + " " + unit +
                    ", " + std::to_string(expected) +
                    " are needed; pass arrays of matching sizes (or a part of one).");
}

}  // namespace atl::collective
