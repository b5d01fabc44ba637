// FakeHeap: a GPU made of host memory, for PEs that are threads. Chunks are memory files, a stream is a lock,
// collectives are computed here. Failures are requested beforehand.
#pragma once

#include "atoll/device/peers.hpp"
#include "gpu/heap/device_memory.hpp"
#include "support/pe_threads.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

namespace atl::testing {

inline constexpr std::size_t granule = std::size_t{64} << 10;

/// Failures to simulate on this PE.
struct Faults {
    bool cannot_open = false, cannot_reserve = false, cannot_map = false, cannot_fill = false,
         cannot_copy = false, cannot_pin = false, shows_elsewhere = false;
    std::size_t memory_bytes = SIZE_MAX;
};

/// Properties of this PE's GPU.
struct FakeGpu {
    gpu::DeviceUuid uuid{};
    unsigned resident_blocks = 0;
    bool takes_turns = false;
    std::size_t memory_bytes = 0;
};

/// Meeting point of a team's members in a collective, found by the offset of the team's memory.
class FakeMeetings {
  public:
    static FakeMeetings& all() {
        static FakeMeetings meetings;
        return meetings;
    }
    /// Runs `body(all members' calls)` once every member has arrived. Returns once all members have run it.
    template <class Body> void meet(std::size_t place, const gpu::GroupCall& call, Body&& body) {
        std::unique_lock lock(mutex_);
        Meeting& meeting = meetings_[{place, device::slot_of(call.team, 0), call.team.n_pes}];
        const auto n = static_cast<std::size_t>(call.team.n_pes);
        changed_.wait(lock, [&] { return meeting.leaving == 0; });
        meeting.calls.resize(n);
        meeting.calls[static_cast<std::size_t>(call.team.my_pe)] = call;
        const std::uint64_t epoch = meeting.epoch;
        if (++meeting.arrived == n) ++meeting.epoch;
        changed_.notify_all();
        changed_.wait(lock, [&] { return meeting.epoch != epoch; });
        const std::vector<gpu::GroupCall> calls = meeting.calls;
        lock.unlock();
        const auto results = body(calls);  // reads the calls of all members
        lock.lock();
        if (++meeting.read == n) ++meeting.epoch;
        changed_.notify_all();
        changed_.wait(lock, [&] { return meeting.epoch == epoch + 2; });
        for (const auto& [to, bytes] : results) std::memcpy(to, bytes.data(), bytes.size());
        if (++meeting.leaving == n) meeting.arrived = meeting.read = meeting.leaving = 0;
        changed_.notify_all();
    }

  private:
    struct Meeting {
        std::vector<gpu::GroupCall> calls;
        std::size_t arrived = 0, read = 0, leaving = 0;
        std::uint64_t epoch = 0;
    };
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::tuple<std::size_t, int, int>, Meeting> meetings_;
};

class FakeHeap final : public gpu::Gpu,
                       public gpu::GpuMemory,
                       public gpu::GpuExecutor,
                       public gpu::GpuPinning {
  public:
    explicit FakeHeap(const Faults& faults, std::size_t slot_bytes = std::size_t{12} << 20,
                      std::size_t granularity_bytes = granule, const FakeGpu& gpu = {})
        : faults_(faults), slot_bytes_(slot_bytes) {
        if (faults.cannot_open) throw Error(ErrorCode::unsupported, "no GPU in this test");
        facts_.number = 0;
        facts_.name = "fake";
        facts_.granularity_bytes = granularity_bytes;
        facts_.uuid = gpu.uuid;
        facts_.resident_blocks = gpu.resident_blocks;
        facts_.takes_turns = gpu.takes_turns;
        facts_.memory_bytes = gpu.memory_bytes;
    }
    ~FakeHeap() override { ::munmap(window_, slot_bytes_ * static_cast<std::size_t>(n_slots_)); }
    FakeHeap(const FakeHeap&) = delete;
    FakeHeap& operator=(const FakeHeap&) = delete;

    const gpu::DeviceFacts& facts() const noexcept override { return facts_; }
    gpu::GpuMemory& memory() noexcept override { return *this; }
    gpu::GpuExecutor& executor() noexcept override { return *this; }
    gpu::GpuPinning& pinning() noexcept override { return *this; }

    void check_peer(const gpu::DeviceUuid&) const override {}
    void limit_blocks(unsigned blocks) override { most_blocks_ = blocks; }
    unsigned most_blocks() const { return most_blocks_; }
    /// That the job has asked for; the window has its own.
    std::size_t asked_stride() const { return asked_stride_; }
    gpu::DeviceWindow reserve(int n_slots, int my_slot, std::size_t stride) override {
        asked_stride_ = stride;
        if (faults_.cannot_reserve) throw Error(ErrorCode::out_of_memory, "no addresses in this test");
        n_slots_ = n_slots;
        my_slot_ = my_slot;
        window_ = static_cast<char*>(place(nullptr, slot_bytes_ * static_cast<std::size_t>(n_slots)));
        return {window_, slot_bytes_};
    }
    char* slot(int i) const noexcept { return window_ + slot_bytes_ * static_cast<std::size_t>(i); }
    common::Fd extend(std::size_t bytes) override {
        if (end_ + bytes > faults_.memory_bytes)
            throw Error(ErrorCode::out_of_memory, "no memory in this test");
        common::Fd fd(::memfd_create("fake", MFD_CLOEXEC));
        if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) throw std::runtime_error("ftruncate");
        last_ = end_;
        end_ += bytes;
        ends_.push_back(last_);
        map(my_slot_, fd);
        return fd;
    }
    /// Bytes of the GPU's memory taken on this PE.
    std::size_t bytes_taken() const { return end_; }
    void map_peer(int slot, const common::Fd& chunk) override {
        if (faults_.cannot_map) throw Error(ErrorCode::unsupported, "no peer access in this test");
        map(slot, chunk);
    }
    void withdraw() noexcept override {
        for (int i = 0; i < n_slots_; ++i) place(slot(i) + ends_.back(), end_ - ends_.back());
        end_ = ends_.back();
        ends_.pop_back();
    }
    common::Fd adopt(std::size_t offset, const void* memory, std::size_t bytes) override {
        const auto found = shareable_.find(memory);
        if (found == shareable_.end() || bytes % granule != 0)
            throw Error(ErrorCode::invalid_argument, "not shareable in this test");
        common::Fd fd(::dup(found->second));
        ::mmap(slot(my_slot_) + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd.get(), 0);
        views_[offset] = bytes;
        return fd;
    }
    void map_view(int slot, std::size_t offset, std::size_t bytes, const common::Fd& fd) override {
        ::mmap(this->slot(slot) + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd.get(), 0);
    }
    void map_chunk(int slot, std::size_t offset, std::size_t bytes, const common::Fd& chunk) override {
        map_view(slot, offset, bytes, chunk);
    }
    void unmap_view(std::size_t offset) noexcept override {
        const auto view = views_.find(offset);
        if (view == views_.end()) return;
        for (int i = 0; i < n_slots_; ++i) place(slot(i) + offset, view->second);
        views_.erase(view);
    }
    /// Declares memory like cuMemCreate's: it can be registered by its descriptor.
    void let_share(const void* memory, int fd) { shareable_[memory] = fd; }
    std::size_t views() const { return views_.size(); }
    std::size_t chunks() const { return ends_.size(); }
    void* show(void* pages, std::size_t bytes) override {
        if (faults_.cannot_pin) throw Error(ErrorCode::system, "no pinning in this test");
        auto* begin = static_cast<char*>(pages);
        shown_[begin] = begin + bytes;
        return faults_.shows_elsewhere ? begin + 1 : begin;
    }
    void hide(void* pages) noexcept override { shown_.erase(static_cast<char*>(pages)); }
    /// Refuses, like the driver, to copy memory that is partly pinned, or pinned by two registrations.
    void copy(void* dst, const void* src, std::size_t bytes) override {
        if (faults_.cannot_copy) throw Error(ErrorCode::system, "no copies in this test");
        check_pinned_alike(dst, bytes);
        check_pinned_alike(src, bytes);
        std::memmove(seen(dst), seen(src), bytes);
    }
    void fill(void* dst, unsigned char value, std::size_t bytes) override {
        if (faults_.cannot_fill) throw Error(ErrorCode::system, "no fills in this test");
        std::memset(dst, value, bytes);
    }
    void check_stream(gpu::StreamHandle) const override {}
    bool is_capturing(gpu::StreamHandle) const override { return false; }
    void start(const gpu::DeviceCall& call, gpu::StreamHandle stream) override {
        if (const auto* group = std::get_if<gpu::GroupCall>(&call)) {
            const std::lock_guard lock(*static_cast<std::mutex*>(stream));
            gpu::GroupCall call = *group;
            call.dst = seen(call.dst);
            call.src = seen(call.src);
            run(call);
        } else if (const auto* collect = std::get_if<gpu::CollectCall>(&call)) {
            const std::lock_guard lock(*static_cast<std::mutex*>(stream));
            run(*collect);
        } else if (const auto* strided = std::get_if<gpu::StridedCall>(&call)) {
            ++strided_;
            for (std::uint64_t i = 0; i < strided->count; ++i)
                std::memcpy(seen(static_cast<char*>(strided->dst) +
                                 static_cast<std::int64_t>(i) * strided->dst_stride),
                            seen(static_cast<const char*>(strided->src) +
                                 static_cast<std::int64_t>(i) * strided->src_stride),
                            strided->block_bytes);
        }
    }
    std::uint64_t run_word(gpu::WordCall call) override { return call.value; }
    gpu::StreamHandle make_stream() override {
        const std::lock_guard lock(made_mutex_);
        return streams_.emplace_back(std::make_unique<std::mutex>()).get();
    }
    void finish(gpu::StreamHandle) override {}
    void* pin(std::size_t bytes) override {
        const std::lock_guard lock(made_mutex_);
        return pinned_.emplace_back(std::make_unique<char[]>(bytes)).get();
    }
    bool reaches(const void* address) const override {
        const auto* at = static_cast<const char*>(address);
        const bool in_window =
            at >= window_ && at < window_ + slot_bytes_ * static_cast<std::size_t>(n_slots_);
        return in_window || reached_.contains(address) || seen(address) != address;
    }
    bool is_on_gpu(const void* address) const override {
        ++asked_;
        return seen(address) != address;
    }
    /// Declares memory like cudaMalloc's, which the host cannot access: `hidden` has no access rights, `real`
    /// is what the GPU sees there.
    void let_see(const char* hidden, char* real, std::size_t bytes) { hidden_[hidden] = {real, bytes}; }
    /// Number of queries about the kind of memory.
    int asked() const { return asked_; }
    std::size_t shown() const { return shown_.size(); }

    /// Declares memory like cudaMalloc's: the GPU can access it, no peer can.
    void let_reach(const void* address) { reached_.insert(address); }
    /// Undoes let_reach, before the memory is freed and another array may get its address.
    void let_not_reach(const void* address) { reached_.erase(address); }
    /// Number of collectives in which peers used addresses of this PE's arrays.
    int at_once() const { return at_once_; }
    /// Number of strided copies, each with any number of blocks.
    int strided() const { return strided_; }
    Faults& faults() { return faults_; }

  private:
    template <class T> T* seen(T* address) const {
        const auto* at = static_cast<const char*>(address);
        for (const auto& [hidden, memory] : hidden_)
            if (at >= hidden && at < hidden + memory.second) return memory.first + (at - hidden);
        return address;
    }
    void check_pinned_alike(const void* address, std::size_t bytes) const {
        const auto* at = static_cast<const char*>(address);
        for (const auto& [begin, end] : shown_)
            if (at < end && at + bytes > begin && (at < begin || at + bytes > end))
                throw Error(ErrorCode::system, "a copy across the end of what is pinned");
    }
    static void* place(void* at, std::size_t bytes) {
        return ::mmap(at, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
    }
    void map(int slot, const common::Fd& fd) const {
        ::mmap(this->slot(slot) + last_, end_ - last_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
               fd.get(), 0);
    }
    using Results = std::vector<std::pair<char*, std::vector<char>>>;
    void run(const gpu::GroupCall& call) {
        const gpu::GroupMemory memory{call.team.n_pes, call.words_bytes};
        const bool small = call.bytes <= memory.exchange_limit_bytes();
        at_once_ += small ? 0 : 1;
        if (!small && (call.src_stride != call.bytes || call.dst_stride != call.bytes))
            throw Error(ErrorCode::system, "a large message with strides");
        FakeMeetings::all().meet(
            static_cast<std::size_t>(call.memory - slot(my_slot_)), call,
            [&](const std::vector<gpu::GroupCall>& calls) { return fold(calls, call, small); });
    }
    void run(const gpu::CollectCall& collect) {
        gpu::GroupCall call = collect.group;
        call.dst = seen(call.dst);
        ++at_once_;
        FakeMeetings::all().meet(static_cast<std::size_t>(call.memory - slot(my_slot_)), call,
                                 [&](const std::vector<gpu::GroupCall>& calls) {
                                     std::vector<char> all;
                                     for (const gpu::GroupCall& theirs : calls) {
                                         const char* src =
                                             in_window_of(call, static_cast<const char*>(theirs.src), theirs);
                                         all.insert(all.end(), src, src + theirs.bytes);
                                     }
                                     if (all.size() > collect.dst_bytes)
                                         throw Error(ErrorCode::kernel, "no room in this test");
                                     return Results{{static_cast<char*>(call.dst), all}};
                                 });
    }
    /// Computes the expected contents of this PE's arrays. Large ones find peers' sources by this PE's
    /// addresses, like kernels.
    static Results fold(const std::vector<gpu::GroupCall>& calls, const gpu::GroupCall& mine, bool small) {
        using gpu::Group;
        if (mine.kind == Group::sync) return {};
        const auto me = static_cast<std::size_t>(mine.team.my_pe);
        const auto block = [&](std::size_t from) {
            const gpu::GroupCall& theirs = calls[from];
            const bool by_target = gpu::is_by_target(mine.kind), from_root = gpu::is_from_root(mine.kind);
            const char* src = static_cast<const char*>(theirs.src);
            if (!small && from_root) src = in_window_of(mine, src, theirs);
            if (!small && !from_root)
                src = device::peer(mine.team, static_cast<const char*>(mine.src), static_cast<int>(from));
            const char* at = src + (by_target ? me * theirs.src_stride : 0);
            return std::vector<char>(at, at + theirs.bytes);
        };
        auto* dst = static_cast<char*>(mine.dst);
        const auto root = static_cast<std::size_t>(mine.root);
        if (mine.kind == Group::broadcast || mine.kind == Group::scatter) return {{dst, block(root)}};
        if (mine.kind == Group::reduce || mine.kind == Group::reduce_scatter || is_ranged(mine.kind)) {
            const auto members = static_cast<std::size_t>(
                gpu::folded_for(mine.kind, mine.team.my_pe, mine.team.n_pes, mine.root));
            if (members == 0 && mine.kind == Group::reduce_to) return {};
            std::vector<char> sum = members == 0 ? std::vector<char>(mine.bytes) : block(0);
            for (std::size_t i = 1; i < members; ++i) add(sum, block(i), mine.type);
            return {{dst, sum}};
        }
        Results results;
        for (std::size_t i = 0; i < calls.size(); ++i)
            if (mine.kind != Group::gather || me == root)
                results.emplace_back(dst + i * mine.dst_stride, block(i));
        return results;
    }
    /// The address of another PE's array, known only to that PE.
    static const char* in_window_of(const gpu::GroupCall& mine, const char* array,
                                    const gpu::GroupCall& theirs) {
        const device::Team &here = mine.team, &there = theirs.team;
        const std::ptrdiff_t offset = array - there.window - there.my_slot * there.stride;
        return here.window + there.my_slot * here.stride + offset;
    }
    static void add(std::vector<char>& sum, const std::vector<char>& more, DType type) {
        if (type != DType::int32) throw Error(ErrorCode::system, "only sums of int32 in this test");
        for (std::size_t i = 0; i < sum.size(); i += sizeof(int)) {
            int a = 0, b = 0;
            std::memcpy(&a, &sum[i], sizeof a);
            std::memcpy(&b, &more[i], sizeof b);
            a += b;
            std::memcpy(&sum[i], &a, sizeof a);
        }
    }
    std::mutex made_mutex_;
    std::vector<std::unique_ptr<std::mutex>> streams_;
    std::vector<std::unique_ptr<char[]>> pinned_;
    std::set<const void*> reached_;
    std::atomic<int> at_once_{0};
    std::atomic<int> strided_{0};
    mutable std::atomic<int> asked_{0};
    std::map<const char*, std::pair<char*, std::size_t>> hidden_;
    std::map<char*, char*> shown_;
    Faults faults_;
    std::size_t slot_bytes_;
    gpu::DeviceFacts facts_;
    std::size_t asked_stride_ = 0;
    unsigned most_blocks_ = 0;
    char* window_ = nullptr;
    int n_slots_ = 0, my_slot_ = 0;
    std::size_t last_ = 0, end_ = 0;
    std::vector<std::size_t> ends_;  ///< starts of chunks
    std::map<std::size_t, std::size_t> views_;
    std::map<const void*, int> shareable_;
};

}  // namespace atl::testing
