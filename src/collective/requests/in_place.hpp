// InPlace: data that members read where it lies, in the sender's process heap, instead of a copy in its
// slots.
#pragma once

#include "collective/members/members.hpp"
#include "collective/requests/call.hpp"
#include "memory/process_heap.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace atl::requests {

class InPlace {
  public:
    explicit InPlace(Members& members) : members_(members), heaps_(std::size_t(members.n())) {}

    /// True if the other members can read all that this member sends where it lies. Pieces for each member
    /// are then adjacent, and of equal sizes but for all_to_all.
    bool takes(const Call& call);
    /// Announces the address of data of this member, in the header of a round.
    static void announce(SlotHeader& header, const char* data);
    /// The announced address in this process. Throws Error(system) if the sender's heap cannot be mapped.
    const char* announced(int member, const SlotHeader& header);

  private:
    Members& members_;
    bool is_published_ = false;  ///< true once the other members can find this process's heap
    std::vector<std::shared_ptr<memory::HeapView>> heaps_;
};

}  // namespace atl::requests
