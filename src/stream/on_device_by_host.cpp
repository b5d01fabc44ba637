// Collectives on device memory in teams whose GPUs cannot all access each other. They run as collectives of
// the host, on copies in the host's memory.
#include "core/context/route.hpp"
#include "stream/on_device.hpp"

#include <algorithm>

namespace atl::stream {

namespace {

using gpu::Group;
using gpu::GroupArguments;

/// Memory for copies of arrays: all of them in pinned memory, or all in ordinary memory.
class StagingBuffer {
  public:
    StagingBuffer(const gpu::Lane* lane, const std::vector<std::size_t>& arrays) {
        std::size_t bytes = 0;
        for (const std::size_t array : arrays) bytes += whole_lines(array);
        if (lane && bytes <= gpu::lane_pinned_bytes) {
            next_ = lane->pinned;
        } else {
            own_ = std::make_unique_for_overwrite<char[]>(bytes);
            next_ = own_.get();
        }
    }
    /// Null for 0 bytes.
    char* take(std::size_t bytes) {
        if (bytes == 0) return nullptr;
        char* const at = next_;
        next_ += whole_lines(bytes);
        return at;
    }

  private:
    static std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
    std::unique_ptr<char[]> own_;
    char* next_;
};

Team handle_of(core::TeamState& state) {
    return Team(std::shared_ptr<core::TeamState>(std::shared_ptr<void>(), &state));
}

void run_on_host(const Team& team, const GroupArguments& a, void* dst, const void* src) {
    const int n = team.n_pes();
    const std::size_t dst_bytes = a.dst_bytes(n), src_bytes = a.src_bytes(n);
    const std::size_t count = a.bytes / size_of(a.type);
    switch (a.kind) {
        case Group::sync:
            return team.sync();
        case Group::broadcast:
            return team.broadcast_bytes(dst, dst_bytes, src, src ? src_bytes : 0, a.root);
        case Group::fcollect:
            return team.fcollect_bytes(dst, dst_bytes, src, src_bytes);
        case Group::alltoall:
            return team.alltoall_bytes(dst, dst_bytes, src, src_bytes);
        case Group::gather:
            return team.gather_bytes(dst, dst ? dst_bytes : 0, src, src_bytes, a.root);
        case Group::scatter:
            return team.scatter_bytes(dst, dst_bytes, src, src ? src_bytes : 0, a.root);
        case Group::reduce:
            return team.reduce_scaled_erased(dst, src, count, a.type, a.op, a.scale);
        case Group::reduce_scatter:
            return team.reduce_scatter_scaled_erased(dst, count, src, src_bytes / size_of(a.type), a.type,
                                                     a.op, a.scale);
        case Group::reduce_to:
            return team.reduce_to_erased(dst, dst ? count : 0, src, count, a.type, a.op, a.root);
        case Group::inscan:
        case Group::exscan:
            return team.scan_erased(dst, src, count, a.type, a.op, a.kind == Group::inscan);
        case Group::collect:  // these two are not of blocks: see below
        case Group::alltoalls:
        case Group::reduce_part:  // a step of `reduce` that only streams make
            break;
    }
}

/// The elements of an alltoalls, packed on the host. GPU memory is copied through the lane's pinned memory.
class Packed {
  public:
    Packed(const gpu::DeviceMemory& device, const gpu::Lane& lane, std::size_t element_bytes,
           std::size_t elements)
        : device_(device),
          lane_(lane),
          element_(element_bytes),
          elements_(elements),
          data_(std::make_unique_for_overwrite<char[]>(element_bytes * elements)) {}
    char* data() const { return data_.get(); }
    std::size_t bytes() const { return element_ * elements_; }
    void take(const void* array, std::ptrdiff_t stride) const {
        const Method method = method_of(array);
        each_piece(method, [&](char* packed, std::size_t at, std::size_t count) {
            const char* from = static_cast<const char*>(array) + apart(at, stride);
            if (method == Method::whole) return device_.copies().copy(packed, from, element_);
            move({method == Method::gpu ? lane_.pinned : packed, from, apart(1), apart(1, stride), element_,
                  count},
                 method);
            if (method == Method::gpu) std::memcpy(packed, lane_.pinned, element_ * count);
        });
    }
    void write_back(void* array, std::ptrdiff_t stride) const {
        const Method method = method_of(array);
        each_piece(method, [&](char* packed, std::size_t at, std::size_t count) {
            char* to = static_cast<char*>(array) + apart(at, stride);
            if (method == Method::whole) return device_.copies().copy(to, packed, element_);
            if (method == Method::gpu) std::memcpy(lane_.pinned, packed, element_ * count);
            move({to, method == Method::gpu ? lane_.pinned : packed, apart(1, stride), apart(1), element_,
                  count},
                 method);
        });
    }

  private:
    enum class Method { host, gpu, whole };  ///< whole: elements too large for the lane, each by a copy
    Method method_of(const void* array) const {
        if (!device_.local().is_on_gpu(array)) return Method::host;
        return element_ <= gpu::lane_pinned_bytes ? Method::gpu : Method::whole;
    }
    std::int64_t apart(std::size_t elements, std::ptrdiff_t stride = 1) const {
        return static_cast<std::int64_t>(elements * element_) * stride;
    }
    void move(const gpu::StridedCall& copy, Method method) const {
        if (method == Method::host) return gpu::copy_on_host(copy);
        device_.streams().start(copy, lane_.stream);
        device_.streams().finish(lane_.stream);
    }
    template <class Move> void each_piece(Method method, Move move) const {
        const std::size_t most = method == Method::host  ? elements_
                                 : method == Method::gpu ? gpu::lane_pinned_bytes / element_
                                                         : 1;
        for (std::size_t at = 0; at < elements_; at += most)
            move(data() + at * element_, at, std::min(most, elements_ - at));
    }
    const gpu::DeviceMemory& device_;
    const gpu::Lane& lane_;
    std::size_t element_, elements_;
    std::unique_ptr<char[]> data_;
};

void alltoalls_by_host(const Team& team, const gpu::DeviceMemory& device, const GroupArguments& a,
                       const gpu::Lane& lane) {
    const std::size_t elements = a.strides.count * static_cast<std::size_t>(team.n_pes());
    const Packed src(device, lane, a.bytes, elements), dst(device, lane, a.bytes, elements);
    src.take(a.src, a.strides.src);
    team.alltoall_bytes(dst.data(), dst.bytes(), src.data(), src.bytes());
    dst.write_back(a.dst, a.strides.dst);
}

}  // namespace

bool is_far(const core::TeamState& team) { return core::first_far(team) >= 0; }

void run_by_host(core::TeamState& state, const GroupArguments& arguments, const gpu::Lane* lane) {
    const gpu::DeviceMemory& device = *state.job().devices().memory();
    const Team team = handle_of(state);
    if (arguments.kind == Group::alltoalls) return alltoalls_by_host(team, device, arguments, *lane);
    const int me = team.my_pe(), n = team.n_pes();
    const std::size_t src_bytes = arguments.reads(me) ? arguments.src_bytes(n) : 0;
    const std::size_t dst_bytes = arguments.writes(me) ? arguments.dst_bytes(n) : 0;
    StagingBuffer buffer(lane, {src_bytes, dst_bytes});
    char* const src = buffer.take(src_bytes);
    char* const dst = buffer.take(dst_bytes);
    if (src) device.copies().copy(src, arguments.src, src_bytes);
    std::size_t written = dst_bytes;
    if (arguments.kind == Group::collect)
        written = team.collect_bytes(dst, dst_bytes, src, src_bytes);
    else
        run_on_host(team, arguments, dst, src);
    if (!dst) return;
    device.copies().copy(arguments.dst, dst, written);
}

void run_messages_by_host(core::TeamState& state, const std::vector<MessageGroup::Message>& messages,
                          const gpu::Lane& lane) {
    const gpu::DeviceMemory& device = *state.job().devices().memory();
    std::vector<std::size_t> sizes;
    for (const auto& m : messages) sizes.push_back(m.bytes);
    StagingBuffer buffer(&lane, sizes);
    std::vector<char*> copies;
    MessageGroup group(handle_of(state));
    for (const auto& m : messages) {
        char* const copy = copies.emplace_back(buffer.take(m.bytes));
        if (!m.is_send)
            group.recv_bytes(copy, m.bytes, m.pe);
        else {
            if (copy) device.copies().copy(copy, m.data, m.bytes);
            group.send_bytes(copy, m.bytes, m.pe);
        }
    }
    group.run();
    for (std::size_t i = 0; i < messages.size(); ++i)
        if (!messages[i].is_send && copies[i])
            device.copies().copy(messages[i].data, copies[i], messages[i].bytes);
}

}  // namespace atl::stream
