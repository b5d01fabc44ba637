// The symbol table of an executable or shared object, which dladdr does not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace atl::common {

struct Symbol {
    std::string name;
    std::string linkage_name;  ///< as the compiler wrote it: not demangled
    std::uint64_t offset;      ///< relative to the start of the object
};

/// The function of `file` that contains `offset`; empty if the file is stripped or cannot be read.
std::optional<Symbol> nearest_symbol(const char* file, std::uint64_t offset);

}  // namespace atl::common
