#include "common/elf/elf_file.hpp"

#include <cstring>

namespace atl::common {

ElfFile::ElfFile(const char* path) : file_(path, std::ios::binary) {
    const auto header = read<ElfW(Ehdr)>(0, 1);
    if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return;
    sections_ = read<Section>(header[0].e_shoff, header[0].e_shnum);
    if (header[0].e_shstrndx < sections_.size()) {
        const Section& names = sections_[header[0].e_shstrndx];
        names_ = read<char>(names.sh_offset, names.sh_size);
        if (!names_.empty()) names_.back() = '\0';
    }
    for (const auto& segment : read<ElfW(Phdr)>(header[0].e_phoff, header[0].e_phnum))
        if (segment.p_type == PT_LOAD) {
            base_ = segment.p_vaddr - segment.p_offset;
            return;
        }
}

std::vector<std::uint8_t> ElfFile::section(std::string_view name, std::uint64_t most) {
    for (const Section& section : sections_)
        if (section.sh_name < names_.size() && name == &names_[section.sh_name])
            return (section.sh_flags & SHF_COMPRESSED) != 0 || section.sh_type == SHT_NOBITS ||
                           section.sh_size > most
                       ? std::vector<std::uint8_t>()
                       : read<std::uint8_t>(section.sh_offset, section.sh_size);
    return {};
}

}  // namespace atl::common
