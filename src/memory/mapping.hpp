// Mapping: the window, the one mapping of all slots of a host.
#pragma once

#include "common/descriptors/fd.hpp"
#include "memory/layout.hpp"

#include <memory>
#include <vector>

namespace atl::memory {

/// Owns the reserved addresses. Held by the job and by objects that pass on addresses in it.
class Mapping {
  public:
    /// Sizes the memfd if that has not been done, and maps all slots. Throws Error(system, out_of_memory).
    Mapping(const common::Fd& heap_fd, const Layout& layout, int n_slots, int my_slot);
    /// The same for some of the memfd's slots: slot i is number `which[i]` in the file.
    Mapping(const common::Fd& heap_fd, const Layout& layout, int n_in_file, const std::vector<int>& which,
            int my_slot);
    /// For PEs that are threads: a view of another PE's mapping, not unmapped here.
    Mapping(char* base, const Layout& layout, int n_slots);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    char* slot(int i) const { return base_ + static_cast<std::size_t>(i) * layout_.stride(); }
    const Layout& layout() const { return layout_; }
    /// Every slot starts at a multiple of this, so blocks can be aligned to it.
    std::size_t base_alignment() const;
    /// Clears a range of this mapping whose contents are not used any more, by returning its whole pages to
    /// the system. False if it has no whole page or the system takes none; the contents are then unspecified.
    bool release_pages(char* from, std::size_t bytes) const;

  private:
    char* base_ = nullptr;
    std::size_t bytes_ = 0;
    bool owned_ = false;
    Layout layout_;
};

}  // namespace atl::memory
