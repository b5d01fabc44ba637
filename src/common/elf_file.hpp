// An executable or shared object as a file: its sections, for what dladdr does not look at.
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
    /// The address that the file gives its first byte; offsets within a loaded object count from there.
    std::uint64_t base() const { return base_; }
    /// `count` of T at `at`; empty where the file is shorter.
    template <class T> std::vector<T> read(std::uint64_t at, std::size_t count) {
        std::vector<T> all(count);
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(at));
        file_.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(count * sizeof(T)));
        if (!file_) all.clear();
        return all;
    }
    /// The bytes of the section of that name; empty where there is none, it is compressed or has more than
    /// `most`.
    std::vector<std::uint8_t> section(std::string_view name, std::uint64_t most);

  private:
    std::ifstream file_;
    std::vector<Section> sections_;
    std::vector<char> names_;
    std::uint64_t base_ = 0;
};

}  // namespace atl::common
