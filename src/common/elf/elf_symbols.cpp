#include "common/elf/elf_symbols.hpp"

#include "common/elf/elf_file.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace atl::common {

namespace {

using Entry = ElfW(Sym);

std::string demangled(const char* name) {
    if (!std::string_view(name).starts_with("_Z"))
        return name;  // a name of C: the demangler takes "f" for a type
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 && text ? std::string(text.get()) : std::string(name);
}

}  // namespace

std::string short_name(const std::string& name) {
    constexpr std::size_t longest = 48;
    constexpr std::string_view left_out = "…";
    if (name.size() <= longest) return name;
    std::string text;
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool is_operator = name.substr(0, i).ends_with("operator") || name.substr(0, i).ends_with("->");
        const bool opens = !is_operator && (name[i] == '<' || name[i] == '('),
                   closes = name[i] == '>' || name[i] == ')';
        if (closes && depth > 0) --depth;
        if (depth == 0) text += name[i];
        if (opens && depth++ == 0) text += left_out;
    }
    if (text.size() <= longest) return text;
    std::size_t end = longest;
    while ((text[end] & 0xc0) == 0x80) --end;  // no part of a character
    return text.substr(0, end).append(left_out);
}

namespace {

/// Calls `found` for the symbol of a type that contains `offset`: name and place.
template <class Found>
auto symbol_at(const char* path, std::uint64_t offset, unsigned char type, const Found& found)
    -> decltype(found("", std::uint64_t{}, std::uint64_t{})) {
    ElfFile file(path);
    const auto& sections = file.sections();
    for (const ElfFile::Section& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const ElfFile::Section& text = sections[section.sh_link];
        const auto names = file.read<char>(text.sh_offset, text.sh_size);
        for (const Entry& entry : file.read<Entry>(section.sh_offset, section.sh_size / sizeof(Entry))) {
            const std::uint64_t from = entry.st_value - file.base();
            if ((entry.st_info & 0xf) != type || offset < from || offset >= from + entry.st_size) continue;
            if (entry.st_name >= names.size() || names.back() != '\0') return {};
            return found(&names[entry.st_name], from, std::uint64_t{entry.st_size});
        }
    }
    return {};
}

}  // namespace

std::optional<Symbol> nearest_symbol(const char* path, std::uint64_t offset) {
    return symbol_at(path, offset, STT_FUNC, [](const char* name, std::uint64_t from, std::uint64_t) {
        return std::optional(Symbol{short_name(demangled(name)), name, from});
    });
}

std::optional<DataSymbol> data_symbol(const char* path, std::uint64_t offset) {
    return symbol_at(path, offset, STT_OBJECT, [](const char* name, std::uint64_t from, std::uint64_t bytes) {
        return std::optional(DataSymbol{short_name(demangled(name)), from, bytes});
    });
}

}  // namespace atl::common
