// ElfFile: an executable or shared object as a file, for the sections that dladdr does not read.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

namespace atl::common {

/// Reads an ELF file of this machine's word size. All that cannot be read is empty.
class ElfFile {
  public:
    using Section = ElfW(Shdr);

    explicit ElfFile(const char* path);

    const std::vector<Section>& sections() const { return sections_; }
    /// The address of the file's first byte, as the file defines it. Offsets within a loaded object are
    /// relative to it.
    std::uint64_t base() const { return base_; }
    /// `count` elements of T at `at`; empty if the file is shorter.
    template <class T> std::vector<T> read(std::uint64_t at, std::size_t count) {
        std::vector<T> all(count);
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(at));
        file_.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(count * sizeof(T)));
        if (!file_) all.clear();
        return all;
    }
    /// The bytes of the section of that name. Empty if it is missing, compressed, or longer than `most`.
    std::vector<std::uint8_t> section(std::string_view name, std::uint64_t most);

  private:
    std::ifstream file_;
    std::vector<Section> sections_;
    std::vector<char> names_;
    std::uint64_t base_ = 0;
};

}  // namespace atl::common
