// How PEs come by one device heap: each opens its GPU, and a chunk is memory on every GPU at once or on none.
#include "core/device_memory.hpp"

#include "atoll/detail/wait.hpp"
#include "common/text.hpp"
#include "core/job_state.hpp"
#include "core/kernel_watch.hpp"

#include <algorithm>
#include <cstring>

namespace atl::core {

namespace {

/// What is taken ahead of need, so that many small blocks are not as many chunks: a quarter of what there is,
/// at most this.
constexpr std::size_t most_ahead_bytes = std::size_t{128} << 20;

struct Hello {
    common::FdCourier::Address courier;
    heap::DeviceUuid uuid;
    std::int32_t code;  ///< of the error that kept this PE from opening its GPU; 0: none
};
static_assert(sizeof(Hello) <= exchange_bytes);

int code_of(const std::exception_ptr& error) {
    if (!error) return 0;
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return static_cast<int>(e.code());
    } catch (...) {
        return static_cast<int>(ErrorCode::system);
    }
}

template <class Call> std::exception_ptr error_of(Call&& call) {
    try {
        call();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

/// LOCAL_RANK counts the processes of a host, and so does the number of a PE as long as a job has one host.
heap::DeviceChoice choice(const JobState& job) {
    const common::Settings& settings = job.settings();
    return {settings.device < 0 ? job.pe() : settings.device, settings.device_exact};
}

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

DeviceMemory::DeviceMemory(JobState& job, const OpenDevice& open, std::size_t control_bytes)
    : job_(job), control_bytes_(control_bytes) {
    const std::exception_ptr mine = error_of([&] {
        courier_.emplace();
        heap_ = open(choice(job_));
    });
    Hello hello{courier_ ? courier_->address() : common::FdCourier::Address{}, {}, code_of(mine)};
    if (heap_) hello.uuid = heap_->facts().uuid;
    job_.world_state().exchange("allocate", &hello, sizeof hello);
    std::vector<Hello> hellos(static_cast<std::size_t>(job_.n_pes()));
    for (int pe = 0; pe < job_.n_pes(); ++pe)
        std::memcpy(&hellos[static_cast<std::size_t>(pe)], job_.world_state().exchanged(pe), sizeof hello);
    settle("open its GPU", mine);
    for (const Hello& other : hellos) couriers_.push_back(other.courier);
    settle("reach another PE's GPU", error_of([&] {
               for (const Hello& other : hellos) heap_->check_peer(other.uuid);
               heap_->reserve(job_.n_pes(), job_.pe());
               blocks_ = std::make_unique<heap::Allocator>(heap_->stride());
           }));
    if (control_bytes_ != 0) open_control();
}

DeviceMemory::~DeviceMemory() = default;

void DeviceMemory::open_control() {
    blocks_->allocate(control_bytes_, heap::device_alignment);
    grow_to(control_bytes_);
    settle("prepare its GPU for kernels", error_of([&] {
               heap_->fill(heap_->slot(job_.pe()), 0, control_bytes_);
               watch_ = std::make_unique<KernelWatch>(job_);
               seen_watch_ =
                   static_cast<const device::Watch*>(heap_->show(&watch_->words(), KernelWatch::bytes));
           }));
}

/// Meets, and tells which PE failed first, -1: none.
int DeviceMemory::first_failed(const std::exception_ptr& mine, ErrorCode& code) const {
    const std::int32_t my_code = code_of(mine);
    job_.world_state().exchange("allocate", &my_code, sizeof my_code);
    for (int pe = 0; pe < job_.n_pes(); ++pe) {
        std::int32_t theirs = 0;
        std::memcpy(&theirs, job_.world_state().exchanged(pe), sizeof theirs);
        code = static_cast<ErrorCode>(theirs);
        if (theirs != 0) return pe;
    }
    return -1;
}

/// Throws on every PE alike unless all could: the PE's own error where it has one.
void DeviceMemory::settle(const std::string& what, const std::exception_ptr& mine) const {
    ErrorCode code{};
    const int failed = first_failed(mine, code);
    if (failed < 0) return;
    if (mine) std::rethrow_exception(mine);
    throw Error(code, "PE " + std::to_string(failed) + " could not " + what +
                          "; its own message says why. Device memory is allocated by all PEs or by none.");
}

// ---- growth
// --------------------------------------------------------------------------------------------------------------

void DeviceMemory::grow_to(std::size_t end) {
    if (end <= taken_bytes_) return;
    const std::size_t granule = heap_->facts().granularity_bytes;
    const std::size_t need = round_up(end - taken_bytes_, granule);
    const std::size_t ahead = round_up(std::min(taken_bytes_ / 4, most_ahead_bytes), granule);
    if (ahead > need && extend(ahead, false)) return;
    extend(need, true);
}

/// False (only if not the last try) when some GPU has no room.
bool DeviceMemory::extend(std::size_t bytes, bool last_try) {
    ++chunks_;
    common::Fd chunk;
    const std::exception_ptr none_left = error_of([&] { chunk = heap_->extend(bytes); });
    ErrorCode code{};
    const int failed = first_failed(none_left, code);
    if (failed >= 0) {
        if (!none_left) heap_->withdraw();
        if (!last_try) return false;
        if (none_left) std::rethrow_exception(none_left);
        throw Error(code,
                    "PE " + std::to_string(failed) + "'s GPU has no " + common::bytes_text(bytes) +
                        " more for the device heap, so no PE gets them; its own message says how much it "
                        "has.");
    }
    try {
        settle("send its GPU memory's descriptor", error_of([&] { send_chunk(chunk); }));
        settle("map another PE's GPU memory", error_of([&] { map_chunks(); }));
    } catch (...) {
        heap_->withdraw();
        throw;
    }
    taken_bytes_ += bytes;
    return true;
}

/// A receiver's queue is short, so whoever sends also receives. Bounded: a PE that failed fetches nothing.
void DeviceMemory::send_chunk(const common::Fd& chunk) {
    int next = 0;
    const auto all_sent = [&] {
        while (auto parcel = courier_->receive()) arrived_.push_back(std::move(*parcel));
        for (; next < job_.n_pes(); ++next) {
            if (next == job_.pe()) continue;
            if (!courier_->send(couriers_[static_cast<std::size_t>(next)], job_.pe(), chunks_, chunk))
                return false;
        }
        return true;
    };
    const detail::WaitReason reason{.operation = "allocate"};
    detail::wait(job_, 0, reason, job_.settings().init_timeout_s, all_sent);
}

/// All were sent, so they are here or in the queue.
void DeviceMemory::map_chunks() {
    while (auto parcel = courier_->receive()) arrived_.push_back(std::move(*parcel));
    std::vector<common::FdCourier::Parcel> parcels;
    parcels.swap(arrived_);
    int mapped = 1;
    for (const common::FdCourier::Parcel& parcel : parcels) {
        if (parcel.tag != chunks_) continue;  // of a chunk that came to nothing
        heap_->map_peer(parcel.sender, parcel.fd);
        ++mapped;
    }
    if (mapped != job_.n_pes())
        throw Error(ErrorCode::system, "Descriptors of GPU memory came from " + std::to_string(mapped - 1) +
                                           " of " + std::to_string(job_.n_pes() - 1) + " other PEs.");
}

// ---- blocks
// --------------------------------------------------------------------------------------------------------------

void* DeviceMemory::allocate(std::size_t bytes, std::size_t align, std::uint64_t serial) {
    std::size_t offset = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto block = blocks_->allocate(bytes, align);
        if (!block)
            throw Error(ErrorCode::out_of_memory,
                        "A device heap has room for " + common::bytes_text(heap_->stride()) +
                            " a PE at most; " + common::bytes_text(bytes) + " were asked for.");
        offset = block->offset;
    }
    try {
        grow_to(offset + bytes);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        blocks_->free(offset);
        throw;
    }
    const std::lock_guard lock(mutex_);
    serial_of_[offset] = serial;
    offset_of_serial_[serial] = offset;
    return heap_->slot(job_.pe()) + offset;
}

void DeviceMemory::forget(std::size_t offset) {
    blocks_->free(offset);
    if (const auto it = serial_of_.find(offset); it != serial_of_.end()) {
        offset_of_serial_.erase(it->second);
        serial_of_.erase(it);
    }
}

void DeviceMemory::free(void* block) {
    const std::lock_guard lock(mutex_);
    forget(offset_of(block));
}

bool DeviceMemory::reclaim(std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    const auto it = offset_of_serial_.find(serial);
    if (it == offset_of_serial_.end()) return false;
    forget(it->second);
    return true;
}

void* DeviceMemory::reallocate(void* block, std::size_t bytes) {
    const std::size_t offset = offset_of(block);
    std::size_t old_bytes = 0;
    std::uint64_t serial = 0;
    bool in_place = false;
    {
        const std::lock_guard lock(mutex_);
        old_bytes = blocks_->find(offset)->bytes;
        serial = serial_of_[offset];
        in_place = blocks_->resize(offset, bytes);
    }
    if (in_place) try {
            grow_to(offset + bytes);
            return block;
        } catch (...) {
            const std::lock_guard lock(mutex_);
            blocks_->resize(offset, old_bytes);
            throw;
        }
    void* moved = allocate(bytes, 0, serial);
    heap_->copy(moved, block, std::min(old_bytes, bytes));
    const std::lock_guard lock(mutex_);
    serial_of_.erase(offset);  // the serial is the new block's now
    blocks_->free(offset);
    return moved;
}

// ---- addresses and copies
// --------------------------------------------------------------------------------------------------------------

std::size_t DeviceMemory::offset_of(const void* address) const noexcept {
    const auto offset = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) -
                                                 reinterpret_cast<std::uintptr_t>(heap_->slot(job_.pe())));
    return offset < heap_->stride() ? offset : SIZE_MAX;
}

bool DeviceMemory::in_window(const void* address) const noexcept {
    const auto distance =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(heap_->slot(0));
    return distance < heap_->stride() * static_cast<std::size_t>(job_.n_pes());
}

bool DeviceMemory::is_allocated(const void* address, std::size_t bytes) const {
    const std::size_t offset = offset_of(address);
    const std::lock_guard lock(mutex_);
    return offset != SIZE_MAX && blocks_->holds(offset, bytes);
}

void DeviceMemory::check(const void* address, std::size_t bytes) const {
    const std::size_t offset = offset_of(address);
    const std::lock_guard lock(mutex_);
    if (offset != SIZE_MAX && blocks_->holds(offset, bytes)) [[likely]]
        return;  // before any text is made
    blocks_->check(offset, bytes, common::bytes_text(bytes) + " at " + common::address_text(address),
                   "device heap");
}

std::size_t DeviceMemory::checked_block(const void* block, const char* operation) const {
    const std::size_t offset = offset_of(block);
    const std::lock_guard lock(mutex_);
    if (blocks_->is_block(offset)) return offset;
    const std::string what = std::string(operation) + " needs the start of a block of the device heap; " +
                             common::address_text(block) + " is ";
    if (offset == SIZE_MAX)
        throw Error(ErrorCode::not_symmetric, what + "in another PE's, seen through the window.");
    if (const auto inside = blocks_->find(offset))
        throw Error(ErrorCode::not_symmetric,
                    what + "inside a block of " + common::bytes_text(inside->bytes) + " that starts " +
                        common::bytes_text(offset - inside->offset) + " before it.");
    throw Error(ErrorCode::use_after_free, what + "in no block that is allocated now; it was freed already.");
}

void* DeviceMemory::at(const void* local, int pe) const noexcept {
    return heap_->slot(pe) + offset_of(local);
}

void DeviceMemory::put(void* dst, const void* local, std::size_t bytes, int pe) const {
    heap_->copy(at(dst, pe), local, bytes);
}

void DeviceMemory::get(void* local, const void* src, std::size_t bytes, int pe) const {
    heap_->copy(local, at(src, pe), bytes);
}

void DeviceMemory::fill(void* dst, unsigned char value, std::size_t bytes) const {
    heap_->fill(dst, value, bytes);
}

std::uint64_t DeviceMemory::atomic(AtomicOp op, DType type, void* dst, std::uint64_t value,
                                   std::uint64_t compare, int pe) const {
    return heap_->run_word({at(dst, pe), nullptr, value, compare, op, type});
}

namespace {

// For collectives on streams: the world team has room for messages of 256 KiB between two PEs, a few others
// for less.
constexpr unsigned world_words_bytes = 2u << 20;
constexpr unsigned team_words_bytes = 256u << 10;
constexpr int most_group_places = 8;
constexpr int most_members = 16;  ///< of such a team: a message of 4 KiB from each, twice
constexpr std::size_t team_place_bytes = std::size_t{288} << 10;
static_assert(heap::GroupMemory{most_members, team_words_bytes}.bytes() <= team_place_bytes);

std::size_t world_place_bytes(int n_pes) {
    return round_up(heap::GroupMemory{n_pes, world_words_bytes}.bytes(), 128);
}

}  // namespace

void DeviceMemory::reserve_group_memory() {
    const std::size_t bytes = world_place_bytes(job_.n_pes()) + (most_group_places - 1) * team_place_bytes;
    void* block = allocate(bytes, 128, 0);
    group_offset_ = offset_of(block);
    fill(block, 0, bytes);
    job_.world_state().sync("allocate");
}

DeviceMemory::GroupPlace DeviceMemory::group_place(const TeamState& team) const {
    char* start = heap_->slot(job_.pe()) + group_offset_;
    const int place = team.kernel_place();
    const std::size_t world_bytes = world_place_bytes(job_.n_pes());
    if (place == 0) return {start, world_words_bytes, world_bytes};
    if (place < 0 || place >= most_group_places || team.n_pes() > most_members)
        throw Error(ErrorCode::unsupported,
                    team.name() +
                        " has no device memory for collectives on streams: there is some for the world "
                        "team and " +
                        std::to_string(most_group_places - 1) + " others alive at once, of " +
                        std::to_string(most_members) +
                        " PEs at most; destroy teams that are no longer used.");
    return {start + world_bytes + static_cast<std::size_t>(place - 1) * team_place_bytes, team_words_bytes,
            team_place_bytes};
}

void DeviceMemory::clear_group_place(const TeamState& team) const {
    if (team.kernel_place() <= 0 || team.kernel_place() >= most_group_places || team.n_pes() > most_members)
        return;
    const GroupPlace place = group_place(team);
    fill(place.address, 0, place.bytes);
}

Job::DeviceHeapUse DeviceMemory::use() const {
    const heap::DeviceFacts& facts = heap_->facts();
    const std::lock_guard lock(mutex_);
    const std::size_t own = control_bytes_ == 0 ? 0 : 1;
    return {facts.number, facts.name, taken_bytes_, blocks_->used_bytes() - control_bytes_,
            blocks_->blocks() - own};
}

}  // namespace atl::core
