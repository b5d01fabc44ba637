// The symbol table of an executable or shared object, which dladdr does not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace atl::common {

struct Symbol {
    std::string name;          ///< human-readable: long lists of arguments are left out
    std::string linkage_name;  ///< name in the object file: not demangled
    std::uint64_t offset;      ///< relative to the start of the object
};

/// The function of `file` that contains `offset`; empty if the file is stripped or cannot be read.
std::optional<Symbol> nearest_symbol(const char* file, std::uint64_t offset);

/// The object, such as a static array, that contains `offset`.
struct DataSymbol {
    std::string name;
    std::uint64_t offset, bytes;  ///< relative to the start of the file
};
std::optional<DataSymbol> data_symbol(const char* file, std::uint64_t offset);

/// The name of a function without the text within <> and (), if it is long, and without an end that is too
/// long all the same.
std::string short_name(const std::string& name);

}  // namespace atl::common
