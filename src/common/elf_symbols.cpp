#include "common/elf_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace atl::common {

namespace {

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Entry = ElfW(Sym);
using Segment = ElfW(Phdr);

/// `count` of T at `at`; empty where the file is shorter.
template <class T> std::vector<T> read(std::ifstream& file, std::uint64_t at, std::size_t count) {
    std::vector<T> all(count);
    file.clear();
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!file) all.clear();
    return all;
}

/// Where the object begins, as its own addresses count.
std::uint64_t base_of(const std::vector<Segment>& segments) {
    for (const Segment& segment : segments)
        if (segment.p_type == PT_LOAD) return segment.p_vaddr - segment.p_offset;
    return 0;
}

std::string demangled(const char* name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 && text ? std::string(text.get()) : std::string(name);
}

}  // namespace

std::optional<Symbol> nearest_symbol(const char* path, std::uint64_t offset) {
    std::ifstream file(path, std::ios::binary);
    const auto header = read<Header>(file, 0, 1);
    if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
    const auto sections = read<Section>(file, header[0].e_shoff, header[0].e_shnum);
    const std::uint64_t base = base_of(read<Segment>(file, header[0].e_phoff, header[0].e_phnum));
    for (const Section& section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const Section& text = sections[section.sh_link];
        const auto names = read<char>(file, text.sh_offset, text.sh_size);
        for (const Entry& entry : read<Entry>(file, section.sh_offset, section.sh_size / sizeof(Entry))) {
            const std::uint64_t from = entry.st_value - base;
            if ((entry.st_info & 0xf) != STT_FUNC || offset < from || offset >= from + entry.st_size)
                continue;
            if (entry.st_name >= names.size() || names.back() != '\0') return {};
            return Symbol{demangled(&names[entry.st_name]), from};
        }
    }
    return {};
}

}  // namespace atl::common
