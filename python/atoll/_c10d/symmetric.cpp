#include "symmetric.hpp"

#include "backend.hpp"
#include "gpu_symmetric.hpp"
#include "store.hpp"

#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace atoll_c10d {
namespace {

namespace symm_mem = c10d::symmetric_memory;
using GroupPtr = c10::intrusive_ptr<c10d::ProcessGroup>;

void* allocate_bytes(std::size_t bytes) {
    void* const data = symmetric_table->allocate(bytes, symm_mem::get_signal_pad_size());
    if (data == nullptr) TORCH_CHECK_WITH(OutOfMemoryError, false, table->last_error());
    return data;
}

std::string name_of(const Ranks& ranks, int rank) {
    return std::to_string(ranks.names.empty() ? rank : ranks.names[static_cast<std::size_t>(rank)]);
}

Milliseconds timeout_of(const GroupPtr& group) {
    try {
        return group->getBackend(c10::kCPU)->getBackendOptions()->timeout;
    } catch (const c10::Error&) {
        return kBackendDefaultTimeout;
    }
}

std::vector<int> names_of(const GroupPtr& group) {
    try {
        const auto backend = group->getBackend(c10::kCPU);
        if (const auto* const atoll = dynamic_cast<const AtollBackend*>(backend.get())) return atoll->names();
    } catch (const c10::Error&) {
        // A group without a backend for CPU tensors.
    }
    return {};
}

/// The keys of a group's next rendezvous, the same on all ranks.
std::string next_keys(const GroupPtr& group) {
    struct Count {
        c10::weak_intrusive_ptr<c10d::ProcessGroup> group;
        std::string keys;
        int next = 0;
    };
    static std::mutex mutex;
    static auto& counts = *new std::map<const void*, Count>;
    const std::lock_guard lock(mutex);
    std::erase_if(counts, [](const auto& entry) { return entry.second.group.expired(); });
    auto it = counts.find(group.get());
    if (it == counts.end()) {
        const std::string keys = keys_of_group(*group->getStore(), "atoll/symmetric", group->getSize());
        it = counts.emplace(group.get(), Count{c10::weak_intrusive_ptr<c10d::ProcessGroup>(group), keys})
                 .first;
    }
    return it->second.keys + "/" + std::to_string(it->second.next++);
}

Ranks ranks_of(const GroupPtr& group, const std::string& name) {
    return {group->getStore(), next_keys(group), group->getRank(), group->getSize(), names_of(group), name,
            timeout_of(group)};
}

GroupPtr group_named(const std::string& name, const char* operation) {
    try {
        return c10d::resolve_process_group(name);
    } catch (const c10::Error&) {
        TORCH_CHECK_VALUE(false, operation, ": there is no process group \"", name,
                          "\". It was not made, or was destroyed; make a group and a new rendezvous.");
    }
}

}  // namespace

std::vector<std::string> exchanged(const Ranks& ranks, const std::string& mine) {
    const auto key = [&](int rank) { return ranks.keys + "/" + std::to_string(rank); };
    ranks.store->set(key(ranks.rank), mine);
    std::vector<std::string> texts;
    for (int rank = 0; rank < ranks.size; ++rank) {
        const std::string step =
            c10::str("Rank ", name_of(ranks, rank), " did not come to the rendezvous of group ", ranks.label,
                     ", for which rank ", name_of(ranks, ranks.rank), " waits,");
        texts.push_back(rank == ranks.rank ? mine : awaited(*ranks.store, key(rank), step, ranks.timeout));
        if (rank != ranks.rank && texts.back()[0] == refused)
            throw_failure(ATOLL_FAILED, c10::str("The rendezvous of group ", ranks.label, " failed on rank ",
                                                 name_of(ranks, rank), ": ", texts.back().substr(1)));
    }
    return texts;
}

// ---- Rendezvous

void HandleGroup::check(const char* operation) const {
    TORCH_CHECK_VALUE(find(name, operation).get() == object, operation, ": the process group \"", name,
                      "\" of this rendezvous was destroyed. Make a new rendezvous with the present group.");
}

void Rendezvous::add(void* data, const std::optional<std::string>& group) {
    const std::lock_guard lock(mutex_);
    entries_[data].group = group;
}

std::vector<std::shared_ptr<void>> Rendezvous::remove(void* data) {
    std::vector<std::shared_ptr<void>> meetings;
    const std::lock_guard lock(mutex_);
    if (const auto it = entries_.find(data); it != entries_.end()) {
        for (auto& [name, known] : it->second.joined) meetings.push_back(std::move(known.blocks));
        entries_.erase(it);
    }
    return meetings;
}

Rendezvous::Met Rendezvous::meet(void* data, const std::optional<std::string>& group_name, const Join& join) {
    std::optional<std::string> name = group_name;
    if (!name && data != nullptr) {
        const std::lock_guard lock(mutex_);
        name = entries_[data].group;
    }
    TORCH_CHECK_VALUE(name.has_value(), "rendezvous: name a group, as the tensor was made without one.");
    const GroupPtr group = group_named(*name, "rendezvous");
    const HandleGroup handle{*name, &group_named, group.get()};
    if (data != nullptr) {
        const std::lock_guard lock(mutex_);
        const auto& joined = entries_[data].joined;
        if (const auto it = joined.find(*name); it != joined.end() && it->second.group.lock() == group)
            return {it->second.blocks, handle};
    }
    const WithoutGil released;
    const std::shared_ptr<void> blocks = join(ranks_of(group, *name));
    const std::lock_guard lock(mutex_);
    entries_[data].joined.insert_or_assign(*name,
                                           Known{blocks, c10::weak_intrusive_ptr<c10d::ProcessGroup>(group)});
    return {blocks, handle};
}

// ---- JoinedBlocks

JoinedBlocks::JoinedBlocks(atoll_symmetric* joined, const atoll_block& block, const Ranks& ranks)
    : joined_(joined),
      block_(block),
      rank_(ranks.rank),
      size_(ranks.size),
      timeout_s_(std::chrono::duration<double>(ranks.timeout).count()) {
    for (int i = 0; i < size_; ++i) {
        data_.push_back(symmetric_table->data(joined_, i));
        pads_.push_back(symmetric_table->pad(joined_, i));
    }
}

std::shared_ptr<JoinedBlocks> JoinedBlocks::join(const Ranks& ranks, const void* address,
                                                 const std::string& refusal, const std::string& word) {
    atoll_block block{};
    char text[ATOLL_OFFER_ROOM];
    atoll_offer* offer = nullptr;
    std::string reason = refusal;
    if (reason.empty()) {
        offer = symmetric_table->offer(address, ranks.size, text, sizeof text);
        if (offer == nullptr) reason = table->last_error();
    }
    if (offer == nullptr) {
        ranks.store->set(ranks.keys + "/" + std::to_string(ranks.rank), refused + reason);
        TORCH_CHECK_VALUE(false, reason);
    }
    symmetric_table->find(address, &block);
    std::vector<std::string> texts;
    try {
        texts = exchanged(ranks, word + ' ' + text);
    } catch (...) {
        symmetric_table->withdraw(offer);
        throw;
    }
    std::vector<std::string> words;
    std::vector<const char*> lines;
    for (const std::string& each : texts) {
        words.push_back(each.substr(0, each.find(' ')));
        lines.push_back(each.c_str() + words.back().size() + 1);
    }
    const atoll_meeting meeting{lines.data(),        ranks.rank,
                                ranks.size,          ranks.names.empty() ? nullptr : ranks.names.data(),
                                ranks.label.c_str(), std::chrono::duration<double>(ranks.timeout).count(),
                                run_signal_handlers};
    atoll_symmetric* const joined = symmetric_table->join(offer, &meeting);
    if (joined == nullptr) throw_last_failure();
    std::shared_ptr<JoinedBlocks> made(new JoinedBlocks(joined, block, ranks));
    made->words_ = std::move(words);
    return made;
}

void JoinedBlocks::run(atoll_symmetric_call call) const {
    if (call.timeout_s <= 0) call.timeout_s = timeout_s_;
    call.interrupted = run_signal_handlers;
    const WithoutGil released;
    if (symmetric_table->run(joined_, &call) != 0) throw_last_failure();
}

// ---- CpuSymmetricMemory

PointerTable::PointerTable(const std::vector<void*>& pointers) : bytes_(pointers.size() * sizeof(void*)) {
    void* const mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK(mapped != MAP_FAILED, "symmetric memory: no memory for ", pointers.size(),
                " addresses (mmap: ", std::strerror(errno), ")");
    begin_ = static_cast<void**>(mapped);
    std::copy(pointers.begin(), pointers.end(), begin_);
}

PointerTable::~PointerTable() { ::munmap(begin_, bytes_); }

void CpuSymmetricMemory::meet(int kind, int member, int channel, std::size_t timeout_ms,
                              const char* operation) const {
    check_group(operation);
    atoll_symmetric_call call{};
    call.kind = kind;
    call.member = member;
    call.channel = channel;
    call.timeout_s = static_cast<double>(timeout_ms) / 1e3;
    blocks_->run(call);
}

void CpuSymmetricMemory::barrier(int channel, std::size_t timeout_ms) {
    meet(ATOLL_SYMMETRIC_BARRIER, 0, channel, timeout_ms, "barrier");
}
void CpuSymmetricMemory::put_signal(int dst_rank, int channel, std::size_t timeout_ms) {
    meet(ATOLL_SYMMETRIC_PUT_SIGNAL, dst_rank, channel, timeout_ms, "put_signal");
}
void CpuSymmetricMemory::wait_signal(int src_rank, int channel, std::size_t timeout_ms) {
    meet(ATOLL_SYMMETRIC_WAIT_SIGNAL, src_rank, channel, timeout_ms, "wait_signal");
}

// ---- CpuSymmetricAllocator

void* CpuSymmetricAllocator::alloc(std::size_t size, int, const std::optional<std::string>& group) {
    void* const data = allocate_bytes(size);
    rendezvous_.add(data, group);
    return data;
}

void CpuSymmetricAllocator::free(void* data) {
    rendezvous_.remove(data);
    symmetric_table->free(data);
}

std::size_t CpuSymmetricAllocator::get_alloc_size(void* data) {
    atoll_block block{};
    TORCH_CHECK_VALUE(symmetric_table->find(data, &block) == 1, "The memory is not of symm_mem.empty.");
    return block.bytes;
}

bool CpuSymmetricAllocator::has_allocation(void* address) {
    atoll_block block{};
    return symmetric_table->find(address, &block) == 1;
}

c10::intrusive_ptr<symm_mem::SymmetricMemory> CpuSymmetricAllocator::rendezvous(
    void* address, const std::optional<std::string>& group) {
    atoll_block block{};
    const bool found = symmetric_table->find(address, &block) == 1;
    const auto met = rendezvous_.meet(found ? block.data : nullptr, group, [&](const Ranks& ranks) {
        return JoinedBlocks::join(
            ranks, address,
            found ? ""
                  : "rendezvous was given a tensor that is not of symm_mem.empty. Make it by "
                    "symm_mem.empty(..., device=\"cpu\") after symm_mem.set_backend(\"ATOLL\").");
    });
    const auto offset =
        static_cast<std::size_t>(static_cast<char*>(address) - static_cast<char*>(block.data));
    return c10::make_intrusive<CpuSymmetricMemory>(std::static_pointer_cast<JoinedBlocks>(met.blocks), offset,
                                                   met.group);
}

// ---- memory for the backend's own users

namespace {

class HeapAllocator : public c10::Allocator {
  public:
    c10::DataPtr allocate(std::size_t bytes) override {
        void* const data = allocate_bytes(bytes);
        return {data, data, &release, c10::Device(c10::kCPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }

  private:
    static void release(void* data) { allocator().free(data); }

  public:
    /// The allocator that knows the rendezvous of each block.
    static CpuSymmetricAllocator& allocator() {
        static const auto& made =
            *new c10::intrusive_ptr<CpuSymmetricAllocator>(c10::make_intrusive<CpuSymmetricAllocator>());
        return *made;
    }
};

}  // namespace

at::Tensor allocate_symmetric(std::int64_t size, const at::TensorOptions& options) {
    TORCH_CHECK_VALUE(size >= 0, "allocate_tensor was given the size ", size, ".");
    const auto element =
        static_cast<std::size_t>(c10::elementSize(c10::typeMetaToScalarType(options.dtype())));
    void* const data = allocate_bytes(static_cast<std::size_t>(size) * element);
    return at::from_blob(
        data, {size}, [](void* of) { HeapAllocator::allocator().free(of); }, options);
}

std::shared_ptr<c10::Allocator> symmetric_allocator() { return std::make_shared<HeapAllocator>(); }

void register_symmetric_operators();

void register_symmetric() {
    const auto allocator =
        c10::intrusive_ptr<CpuSymmetricAllocator>::reclaim_copy(&HeapAllocator::allocator());
    // A name has one allocator, which set_backend selects for the allocator's type of device.
    if (c10::impl::hasDeviceGuardImpl(c10::kCUDA))
        symm_mem::register_availability(symmetric_backend, gpu_symmetric_allocator());
    else
        symm_mem::register_availability(symmetric_backend, allocator);
    symm_mem::register_allocator(c10::kCPU, allocator);
    register_symmetric_operators();
}

}  // namespace atoll_c10d
