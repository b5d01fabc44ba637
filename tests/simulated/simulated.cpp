// A GPU simulated in memory of the host, in place of libatoll_cuda.so. It runs the device code of the core
// and of Python, with several PEs, on machines without a GPU. Streams are handles whose work completes at
// once; a wait or a collective blocks its caller. A program that works here thus works on a GPU, but the
// reverse is not guaranteed.
#include "atoll/device/device.hpp"
#include "atoll/export.hpp"
#include "common/clock.hpp"
#include "gpu/gpu.hpp"
#include "simulated/elements.hpp"
#include "simulated/groups.hpp"
#include "simulated/mailbox.hpp"
#include "simulated/many_words.hpp"
#include "simulated/words.hpp"

#include "atoll/error.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace atl {
namespace {

using simulated::perform;
using simulated::value_of;
using simulated::visit_word;

constexpr std::size_t slot_bytes = std::size_t{1} << 30;
constexpr std::size_t granule = std::size_t{2} << 20;
/// The handle of a stream of "another GPU".
const auto foreign_stream = reinterpret_cast<gpu::StreamHandle>(0xdead);

/// Updates one word under a lock that all threads share. Tests do not race updates of one word by several
/// PEs.
template <class T> T updated(AtomicOp op, T before, T value, T compare) {
    switch (op) {
        case AtomicOp::fetch:
            return before;
        case AtomicOp::set:
        case AtomicOp::swap:
            return value;
        case AtomicOp::compare_swap:
            return before == compare ? value : before;
        case AtomicOp::add:
        case AtomicOp::fetch_add:
            return static_cast<T>(before + value);
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (op == AtomicOp::bit_and || op == AtomicOp::fetch_and) return static_cast<T>(before & value);
        if (op == AtomicOp::bit_or || op == AtomicOp::fetch_or) return static_cast<T>(before | value);
        return static_cast<T>(before ^ value);
    }
    return before;
}

std::uint64_t apply(const gpu::WordCall& call) {
    std::uint64_t result = 0;
    visit_word(call.type, [&]<class T>(T) {
        auto* word = static_cast<T*>(call.word);
        T before;
        __atomic_load(word, &before, __ATOMIC_ACQUIRE);
        for (;;) {
            T after = updated(call.op, before, value_of<T>(call.value), value_of<T>(call.compare));
            if (__atomic_compare_exchange(word, &before, &after, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                break;
        }
        std::memcpy(&result, &before, sizeof before);
        if (call.result) std::memcpy(call.result, &before, sizeof before);
    });
    return result;
}

void perform(const gpu::CopyCall& call) {
    std::memmove(call.dst, call.src, call.bytes);
    if (!call.signal) return;
    apply({call.signal, nullptr, call.value, 0,
           call.signal_op == SignalOp::set ? AtomicOp::set : AtomicOp::add, DType::uint64});
}

void perform(const gpu::StridedCall& call) {
    for (std::uint64_t i = 0; i < call.count; ++i)
        std::memmove(static_cast<char*>(call.dst) + static_cast<std::int64_t>(i) * call.dst_stride,
                     static_cast<const char*>(call.src) + static_cast<std::int64_t>(i) * call.src_stride,
                     call.block_bytes);
}

void perform(const gpu::WordCall& call) { apply(call); }

void perform(const gpu::WaitCall& call) {
    visit_word(call.type, [&]<class T>(T) {
        if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
            auto* word = static_cast<T*>(call.word);
            const T value = value_of<T>(call.value);
            const auto cmp = static_cast<device::Compare>(call.compare);
            if (call.operation == device::Operation::signal_consume)
                device::signal_consume(call.team, word, value, device::Thread{});
            else if (call.operation == device::Operation::signal_wait_until)
                device::signal_wait_until(call.team, word, cmp, value, device::Thread{});
            else
                device::wait_until(call.team, word, cmp, value, device::Thread{});
        }
    });
}

void perform(const gpu::FarCall& call) {
    device::detail::FarPending pending{};
    pending.request = call.request;
    pending.control = call.team.control;
    device::detail::far_request(pending, call.ring, call.tickets);
}

/// Messages like those of the library's kernel: a letter contains the address of the data, and the receiver
/// fetches them.
class Messages {
  public:
    explicit Messages(const gpu::MessagesCall& call) : call_(call), memory_{call.team.n_pes} {}
    void run() const {
        each(true, [&](const gpu::Message& m) { leave_letter(m); });
        each(false, [&](const gpu::Message& m) { fetch(m); });
        each(true, [&](const gpu::Message& m) {
            await(m, memory_.done_at(m.pe), number_of(m, memory_.sent_at(m.pe)));
        });
        for (int i = 0; i < call_.count; ++i) {
            const gpu::Message& m = call_.messages[i];
            ++*word(call_.memory, m.is_send ? memory_.sent_at(m.pe) : memory_.received_at(m.pe));
        }
    }

  private:
    struct Header {
        std::int64_t offset;
        std::uint64_t bytes;
        unsigned number;
    };
    template <class F> void each(bool sends, F&& f) const {
        for (int i = 0; i < call_.count; ++i)
            if (call_.messages[i].is_send == sends) f(call_.messages[i]);
    }
    static unsigned* word(char* memory, std::uint64_t at) { return reinterpret_cast<unsigned*>(memory + at); }
    unsigned number_of(const gpu::Message& m, std::uint64_t counter) const {
        return *word(call_.memory, counter) + m.order + 1;
    }
    char* slot(int pe) const {
        return call_.team.window + device::slot_of(call_.team, pe) * call_.team.stride;
    }
    void await(const gpu::Message& m, std::uint64_t at, unsigned number) const {
        const unsigned* counter = word(call_.memory, at);
        device::detail::spin(
            call_.team,
            [&] { return static_cast<int>(__atomic_load_n(counter, __ATOMIC_ACQUIRE) - number) >= 0; },
            [&] {
                const auto operation = m.is_send ? device::Operation::send : device::Operation::recv;
                return device::detail::waiting(call_.team.control, {operation, 0, 0}, counter, m.pe);
            });
    }
    void leave_letter(const gpu::Message& m) const {
        const unsigned number = number_of(m, memory_.sent_at(m.pe));
        char* at = device::peer(call_.team, call_.memory, m.pe) + memory_.header_at(call_.team.my_pe, number);
        auto* header = reinterpret_cast<Header*>(at);
        header->offset = static_cast<char*>(m.data) - slot(call_.team.my_pe);
        header->bytes = m.bytes;
        __atomic_store_n(&header->number, number, __ATOMIC_RELEASE);
    }
    void fetch(const gpu::Message& m) const {
        const unsigned number = number_of(m, memory_.received_at(m.pe));
        const std::uint64_t at = memory_.header_at(m.pe, number);
        await(m, at + offsetof(Header, number), number);
        const auto* header = reinterpret_cast<const Header*>(call_.memory + at);
        if (header->bytes != m.bytes)
            throw Error(ErrorCode::kernel, "The simulated GPU stopped a kernel: a message's sizes differ.");
        std::memcpy(m.data, slot(m.pe) + header->offset, m.bytes);
        __atomic_add_fetch(
            word(device::peer(call_.team, call_.memory, m.pe), memory_.done_at(call_.team.my_pe)), 1,
            __ATOMIC_RELEASE);
    }

    const gpu::MessagesCall& call_;
    gpu::MessageMemory memory_;
};

void perform(const gpu::MessagesCall& call) { Messages(call).run(); }

class SimulatedGpu final : public gpu::Gpu, gpu::GpuMemory, gpu::GpuExecutor, gpu::GpuPinning {
  public:
    SimulatedGpu() {
        facts_.number = 0;
        facts_.name = "simulated";
        facts_.granularity_bytes = granule;
        facts_.is_gpu_memory = false;
        facts_.admits_networks = true;
        facts_.takes_turns = std::getenv("ATOLL_SIMULATED_TURNS") != nullptr;
    }
    ~SimulatedGpu() override { ::munmap(window_, slot_bytes * static_cast<std::size_t>(n_slots_)); }
    SimulatedGpu(const SimulatedGpu&) = delete;
    SimulatedGpu& operator=(const SimulatedGpu&) = delete;

    const gpu::DeviceFacts& facts() const noexcept override { return facts_; }
    gpu::GpuMemory& memory() noexcept override { return *this; }
    gpu::GpuExecutor& executor() noexcept override { return *this; }
    gpu::GpuPinning& pinning() noexcept override { return *this; }

    void check_peer(const gpu::DeviceUuid&) const override {}
    void limit_blocks(unsigned) override {}
    /// Its kernels run on the host.
    std::uint64_t clock_ns() override { return common::now_ns(); }
    gpu::DeviceWindow reserve(int n_slots, int my_slot, std::size_t) override {
        n_slots_ = n_slots;
        my_slot_ = my_slot;
        window_ = static_cast<char*>(place(nullptr, slot_bytes * static_cast<std::size_t>(n_slots)));
        return {window_, slot_bytes};
    }
    char* slot(int i) const noexcept { return window_ + slot_bytes * static_cast<std::size_t>(i); }
    common::Fd extend(std::size_t bytes) override {
        if (end_ + bytes > slot_bytes)
            throw Error(ErrorCode::out_of_memory, "The simulated GPU has 1 GiB of memory.");
        common::Fd fd(::memfd_create("simulated", MFD_CLOEXEC));
        if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) throw std::runtime_error("ftruncate");
        last_ = end_;
        end_ += bytes;
        map(my_slot_, fd);
        return fd;
    }
    void map_peer(int slot, const common::Fd& chunk) override { map(slot, chunk); }
    void withdraw() noexcept override {
        for (int i = 0; i < n_slots_; ++i) place(slot(i) + last_, end_ - last_);
        end_ = last_;
    }
    void* show(void* pages, std::size_t) override {
        // the first, followed by pinned blocks
        if (!watch_) watch_ = static_cast<const device::Watch*>(pages);
        return pages;
    }
    void hide(void*) noexcept override {}
    void copy(void* dst, const void* src, std::size_t bytes) override {
        count_call();
        std::memmove(dst, src, bytes);
    }
    void fill(void* dst, unsigned char value, std::size_t bytes) override { std::memset(dst, value, bytes); }
    void check_stream(gpu::StreamHandle stream) const override {
        if (stream == foreign_stream)
            throw Error(ErrorCode::invalid_argument, "The stream is not of GPU 0 (simulated).");
    }
    void start(const gpu::DeviceCall& call, gpu::StreamHandle) override {
        check_context();
        count_call();
        std::visit([](const auto& which) { perform(which); }, call);
    }
    void finish(gpu::StreamHandle) override {
        wait_while_held();
        check_context();
    }
    bool is_capturing(gpu::StreamHandle) const override { return false; }
    gpu::StreamHandle make_stream() override { return nullptr; }
    void* pin(std::size_t bytes) override { return pinned_.emplace_back(new char[bytes]).get(); }
    /// With ATOLL_SIMULATED_REACH=window it cannot access ordinary memory of the host, like some real GPUs.
    bool reaches(const void* address) const override {
        const char* reach = std::getenv("ATOLL_SIMULATED_REACH");
        if (!reach) return is_mapped(address);
        const auto distance =
            reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(window_);
        return distance < slot_bytes * static_cast<std::size_t>(n_slots_);
    }
    bool is_on_gpu(const void* address) const override {
        const auto distance =
            reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(window_);
        return distance < slot_bytes * static_cast<std::size_t>(n_slots_);
    }
    // A mapping of a memory file counts as an allocation of cuMemCreate.
    gpu::DeviceRange enclosing(const void* memory, std::size_t bytes) const override {
        const auto* at = static_cast<const char*>(memory);
        const Mapping first = mapping_at(at), last = mapping_at(at + bytes - 1);
        return {first.begin, static_cast<std::size_t>(last.end - first.begin)};
    }
    std::vector<std::size_t> parts(const void* memory, std::size_t bytes) const override {
        std::vector<std::size_t> sizes;
        const auto* const end = static_cast<const char*>(memory) + bytes;
        for (const auto* at = static_cast<const char*>(memory); at < end; at = mapping_at(at).end)
            sizes.push_back(static_cast<std::size_t>(mapping_at(at).end - at));
        return sizes;
    }
    common::Fd adopt(std::size_t offset, const void* memory, std::size_t bytes) override {
        common::Fd fd = file_of(mapping_at(static_cast<const char*>(memory)));
        show_file(my_slot_, offset, bytes, fd);
        views_[offset] = bytes;
        return fd;
    }
    void map_view(int slot, std::size_t offset, std::size_t bytes, const common::Fd& fd) override {
        show_file(slot, offset, bytes, fd);
    }
    void unmap_view(std::size_t offset) noexcept override {
        for (int i = 0; i < n_slots_; ++i) place(slot(i) + offset, views_[offset]);
        views_.erase(offset);
    }
    void map_chunk(int slot, std::size_t offset, std::size_t bytes, const common::Fd& fd) override {
        show_file(slot, offset, bytes, fd);
    }
    std::uint64_t run_word(gpu::WordCall call) override { return apply(call); }

  private:
    /// With ATOLL_SIMULATED_CALLS, counts copies and kernels in the first word of that file.
    static void count_call() {
        static std::uint64_t* const count = [] {
            const char* file = std::getenv("ATOLL_SIMULATED_CALLS");
            const common::Fd fd(file ? ::open(file, O_RDWR | O_CLOEXEC) : -1);
            void* word = file ? ::mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0) : nullptr;
            return static_cast<std::uint64_t*>(word);
        }();
        if (count) __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    }
    /// With ATOLL_SIMULATED_HOLD, simulates a busy GPU as long as that file exists. Creates a second file,
    /// FILE.waited, once a thread waits.
    static void wait_while_held() {
        const char* file = std::getenv("ATOLL_SIMULATED_HOLD");
        if (!file || ::access(file, F_OK) != 0) return;
        std::ofstream(std::string(file) + ".waited");
        while (::access(file, F_OK) == 0) ::usleep(1000);
    }
    /// Like a real GPU: after a report of a kernel every call fails.
    void check_context() const {
        if (watch_ != nullptr && __atomic_load_n(&watch_->report.state, __ATOMIC_ACQUIRE) >= 2)
            throw Error(ErrorCode::kernel, "The GPU stopped a kernel of this process: simulated.");
    }
    static bool is_mapped(const void* address) {
        const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        const auto at = reinterpret_cast<std::uintptr_t>(address) / page * page;
        unsigned char in_memory = 0;
        return ::mincore(reinterpret_cast<void*>(at), page, &in_memory) == 0;
    }
    struct Mapping {
        const char *begin, *end;
        unsigned long inode;
    };
    static Mapping mapping_at(const char* address) {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            unsigned long begin = 0, end = 0, inode = 0;
            if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %lu", &begin, &end, &inode) != 3) continue;
            const auto at = reinterpret_cast<unsigned long>(address);
            if (at >= begin && at < end && line.find("/memfd:") != std::string::npos)
                return {reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(end), inode};
        }
        throw Error(ErrorCode::invalid_argument,
                    "are not memory that cuMemCreate made (cudaMalloc's cannot be mapped elsewhere).");
    }
    static common::Fd file_of(const Mapping& mapping) {
        for (int fd = 3; fd < 256; ++fd) {
            struct stat status {};
            if (::fstat(fd, &status) == 0 && status.st_ino == mapping.inode) return common::Fd(::dup(fd));
        }
        throw Error(ErrorCode::invalid_argument, "cannot be given to other processes by a descriptor.");
    }
    void show_file(int slot, std::size_t offset, std::size_t bytes, const common::Fd& fd) const {
        ::mmap(this->slot(slot) + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd.get(), 0);
    }
    static void* place(void* at, std::size_t bytes) {
        return ::mmap(at, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
    }
    void map(int slot, const common::Fd& fd) const {
        ::mmap(this->slot(slot) + last_, end_ - last_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
               fd.get(), 0);
    }
    gpu::DeviceFacts facts_;
    std::vector<std::unique_ptr<char[]>> pinned_;
    std::map<std::size_t, std::size_t> views_;
    const device::Watch* watch_ = nullptr;
    char* window_ = nullptr;
    int n_slots_ = 0, my_slot_ = 0;
    std::size_t last_ = 0, end_ = 0;
};

std::unique_ptr<gpu::Gpu> open_gpu(const gpu::DeviceChoice&) { return std::make_unique<SimulatedGpu>(); }

}  // namespace
}  // namespace atl

extern "C" ATOLL_API const atl::gpu::DevicePlugin atoll_device_plugin{ATOLL_VERSION, atl::open_gpu,
                                                                      "a simulated GPU"};
