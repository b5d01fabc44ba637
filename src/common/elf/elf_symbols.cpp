#include "common/elf/elf_symbols.hpp"

#include "common/elf/elf_file.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace atl::common {

namespace {

using Entry = ElfW(Sym);

std::string demangled(const char* name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 && text ? std::string(text.get()) : std::string(name);
}

}  // namespace

std::optional<Symbol> nearest_symbol(const char* path, std::uint64_t offset) {
    ElfFile file(path);
    const auto& sections = file.sections();
    for (const ElfFile::Section& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const ElfFile::Section& text = sections[section.sh_link];
        const auto names = file.read<char>(text.sh_offset, text.sh_size);
        for (const Entry& entry : file.read<Entry>(section.sh_offset, section.sh_size / sizeof(Entry))) {
            const std::uint64_t from = entry.st_value - file.base();
            if ((entry.st_info & 0xf) != STT_FUNC || offset < from || offset >= from + entry.st_size)
                continue;
            if (entry.st_name >= names.size() || names.back() != '\0') return {};
            return Symbol{demangled(&names[entry.st_name]), &names[entry.st_name], from};
        }
    }
    return {};
}

}  // namespace atl::common
