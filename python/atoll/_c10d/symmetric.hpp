// Symmetric memory of PyTorch for CPU tensors: torch.distributed._symmetric_memory with the backend ATOLL.
#pragma once

#include "work.hpp"

#include <atoll/symmetric.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace atoll_c10d {

/// The third table of libatoll; set when the module is loaded.
inline const atoll_symmetric_table* symmetric_table = nullptr;

inline constexpr const char* symmetric_backend = "ATOLL";

/// The ranks of a group, and the store by which they exchange texts.
struct Ranks {
    c10::intrusive_ptr<c10d::Store> store;
    std::string keys;  ///< begins the keys of one exchange
    int rank, size;
    std::vector<int> names;  ///< global ranks; empty: unknown
    std::string label;
    Milliseconds timeout;

    /// The same ranks for an exchange of another name.
    template <class Name> Ranks step(const Name& name) const {
        Ranks ranks = *this;
        ranks.keys = c10::str(keys, "/", name);
        return ranks;
    }
};

/// A block of memory on each rank of a group. It stays mapped while this object lives.
class JoinedBlocks {
  public:
    /// Exchanges blocks with the other ranks. Collective. `address` is in a block of this process; null if
    /// this rank refuses, with a reason for the others. Each rank may add a word, which the others get in
    /// `words`.
    static std::shared_ptr<JoinedBlocks> join(const Ranks& ranks, const void* address,
                                              const std::string& refusal, const std::string& word = "-");
    ~JoinedBlocks() { symmetric_table->leave(joined_); }
    JoinedBlocks(const JoinedBlocks&) = delete;
    JoinedBlocks& operator=(const JoinedBlocks&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    const atoll_block& block() const { return block_; }
    const std::vector<void*>& data() const { return data_; }
    const std::vector<void*>& pads() const { return pads_; }
    const std::vector<std::string>& words() const { return words_; }
    /// Carries out an operation, which the group's time-out bounds unless the call has one of its own.
    void run(atoll_symmetric_call call) const;

  private:
    JoinedBlocks(atoll_symmetric* joined, const atoll_block& block, const Ranks& ranks);

    atoll_symmetric* joined_;
    atoll_block block_;
    int rank_, size_;
    double timeout_s_;
    std::vector<void*> data_, pads_;
    std::vector<std::string> words_;
};

/// The text of every rank. Throws for the first rank that has refused. Collective.
std::vector<std::string> exchanged(const Ranks& ranks, const std::string& mine);
/// Begins the text of a rank that cannot take part.
inline constexpr char refused = '!';

/// A process group that a handle was made for.
struct HandleGroup {
    std::string name;
    c10::intrusive_ptr<c10d::ProcessGroup> (*find)(const std::string& name, const char* operation);
    const void* object;
    /// Throws if the group was destroyed.
    void check(const char* operation) const;
};

/// The blocks of an allocator, and their rendezvous with other ranks.
class Rendezvous {
  public:
    using Join = std::function<std::shared_ptr<void>(const Ranks&)>;
    struct Met {
        std::shared_ptr<void> blocks;
        HandleGroup group;
    };
    void add(void* data, const std::optional<std::string>& group);
    /// Forgets a block. Returns its meetings, whose memory may be let go.
    std::vector<std::shared_ptr<void>> remove(void* data);
    /// Returns the block's meeting with a group. The first call makes it by `join`. `data` is null for other
    /// memory, which `join` refuses.
    Met meet(void* data, const std::optional<std::string>& group, const Join& join);

  private:
    struct Known {
        std::shared_ptr<void> blocks;
        c10::weak_intrusive_ptr<c10d::ProcessGroup> group;
    };
    struct Entry {
        std::optional<std::string> group;     ///< given with the allocation
        std::map<std::string, Known> joined;  ///< by the group's name
    };

    std::mutex mutex_;
    std::map<void*, Entry> entries_;  ///< by the block's data
};

/// Pointers in a mapping of their own, for kernels. These take its address as an integer. Triton's
/// interpreter gives integers below 2^31 only 32 bits. malloc may return such addresses, since Debian's
/// Python is loaded at a low one.
class PointerTable {
  public:
    explicit PointerTable(const std::vector<void*>& pointers);
    ~PointerTable();
    PointerTable(const PointerTable&) = delete;
    PointerTable& operator=(const PointerTable&) = delete;
    void** begin() const { return begin_; }

  private:
    std::size_t bytes_;
    void** begin_;
};

/// The handle that rendezvous returns.
class CpuSymmetricMemory : public c10d::symmetric_memory::SymmetricMemory {
  public:
    CpuSymmetricMemory(std::shared_ptr<JoinedBlocks> blocks, std::size_t offset, HandleGroup group)
        : blocks_(std::move(blocks)),
          offset_(offset),
          group_(std::move(group)),
          data_(blocks_->data()),
          pads_(blocks_->pads()) {}

    std::vector<void*> get_buffer_ptrs() override { return blocks_->data(); }
    std::vector<void*> get_signal_pad_ptrs() override { return blocks_->pads(); }
    void** get_buffer_ptrs_dev() override { return data_.begin(); }
    void** get_signal_pad_ptrs_dev() override { return pads_.begin(); }
    std::size_t get_buffer_size() override { return blocks_->block().bytes; }
    std::size_t get_offset() override { return offset_; }
    bool has_multicast_support() override { return false; }
    void* get_multicast_ptr() override { return nullptr; }
    void barrier(int channel, std::size_t timeout_ms) override;
    void put_signal(int dst_rank, int channel, std::size_t timeout_ms) override;
    void wait_signal(int src_rank, int channel, std::size_t timeout_ms) override;
    int get_rank() override { return blocks_->rank(); }
    int get_world_size() override { return blocks_->size(); }
    c10::Device get_device() override { return c10::Device(c10::kCPU); }
    bool world_within_direct_access() override { return true; }

    const JoinedBlocks& blocks() const { return *blocks_; }
    void check_group(const char* operation) const { group_.check(operation); }

  private:
    void meet(int kind, int member, int channel, std::size_t timeout_ms, const char* operation) const;

    std::shared_ptr<JoinedBlocks> blocks_;
    std::size_t offset_;
    HandleGroup group_;
    PointerTable data_, pads_;
};

class CpuSymmetricAllocator : public c10d::symmetric_memory::SymmetricMemoryAllocator {
  public:
    void* alloc(std::size_t size, int device, const std::optional<std::string>& group) override;
    void free(void* data) override;
    std::size_t get_alloc_size(void* data) override;
    c10::intrusive_ptr<c10d::symmetric_memory::SymmetricMemory> rendezvous(
        void* address, const std::optional<std::string>& group) override;
    bool has_multicast_support(int) override { return false; }
    c10::DeviceType supported_device_type() override { return c10::kCPU; }
    std::string name() override { return symmetric_backend; }
    // PyTorch 2.11 has no such function, hence no `override`.
    bool has_allocation(void* address);

  private:
    Rendezvous rendezvous_;
};

/// Registers the backend ATOLL with PyTorch, and kernels of torch.ops.symm_mem for CPU tensors.
void register_symmetric();

/// A tensor of this process's symmetric memory. Throws torch.OutOfMemoryError.
at::Tensor allocate_symmetric(std::int64_t size, const at::TensorOptions& options);
std::shared_ptr<c10::Allocator> symmetric_allocator();

}  // namespace atoll_c10d
