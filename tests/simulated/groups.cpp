#include "simulated/groups.hpp"

#include "atoll/device/device.hpp"
#include "atoll/error.hpp"
#include "simulated/words.hpp"

#include <algorithm>
#include <complex>
#include <memory>

namespace atl::simulated {

namespace {

/// The blocks of a PE, at an address that the others can access.
class Sources {
  public:
    /// Small messages may have different addresses on each PE: they are copied through the team's own memory.
    /// For large ones, only the part of each array from `from` on is used.
    explicit Sources(const gpu::GroupCall& call, std::uint64_t from = 0) : call_(call), from_(from) {
        const gpu::GroupMemory memory{call.team.n_pes, call.words_bytes};
        const bool from_root = is_from_root(call.kind);
        if (call.bytes > memory.exchange_limit_bytes()) {
            if (from_root) root_offset_ = reinterpret_cast<std::int64_t*>(call.memory + memory.root_at(0));
            if (from_root && call.root == call.team.my_pe)
                *root_offset_ = static_cast<const char*>(call.src) - own_slot();
            return;
        }
        staging_ = call.memory + memory.words_at(0, 0, 0);
        const bool for_each = is_by_target(call.kind);
        if (from_root && call.root != call.team.my_pe) return;
        for (int i = 0; i < (for_each ? call.team.n_pes : 1); ++i)
            std::memcpy(staging_ + place(i, call.bytes),
                        static_cast<const char*>(call.src) + place(i, call.src_stride), call.bytes);
    }
    /// Call it after all have met.
    const char* of(int pe, int block = 0) const {
        if (root_offset_) return source_of_root() + place(block, call_.bytes);
        return device::peer(call_.team, staging_ ? staging_ : static_cast<const char*>(call_.src), pe) +
               from_ + place(block, call_.bytes);
    }

  private:
    static std::uint64_t place(int i, std::uint64_t stride) { return static_cast<std::uint64_t>(i) * stride; }
    char* own_slot() const { return call_.team.window + call_.team.my_slot * call_.team.stride; }
    const char* source_of_root() const {
        return device::peer(call_.team, own_slot() + *device::peer(call_.team, root_offset_, call_.root),
                            call_.root);
    }
    const gpu::GroupCall& call_;
    std::uint64_t from_;
    char* staging_ = nullptr;
    std::int64_t* root_offset_ = nullptr;  ///< the offset of the root's source in its slot
};

/// An average is a sum that is divided at the end.
template <class T> T finished(const gpu::GroupCall& call, T sum) {
    if constexpr (std::is_floating_point_v<T>)
        if (call.op == ReduceOp::avg) return sum / static_cast<T>(call.team.n_pes);
    return sum;
}

template <class T> T scaled(const gpu::GroupCall& call, T value) {
    if constexpr (std::is_floating_point_v<T>)
        if (call.scale != 1) return static_cast<T>(value * static_cast<T>(call.scale));
    return value;
}

template <class T> T step(ReduceOp op, T a, T b) {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        return op == ReduceOp::prod ? a * b : a + b;
    } else {
        if constexpr (std::is_integral_v<T>) {
            if (op == ReduceOp::bit_and) return static_cast<T>(a & b);
            if (op == ReduceOp::bit_or) return static_cast<T>(a | b);
            if (op == ReduceOp::bit_xor) return static_cast<T>(a ^ b);
        }
        switch (op) {
            case ReduceOp::prod:
                return static_cast<T>(a * b);
            case ReduceOp::min:
                return b < a ? b : a;
            case ReduceOp::max:
                return a < b ? b : a;
            default:
                return static_cast<T>(a + b);
        }
    }
}

/// Folds the first members whose fold this PE stores; elements are folded in `Wide`.
template <class T, class Wide, class Widen, class Narrow>
void fold(const gpu::GroupCall& call, const Sources& sources, int block, Widen widen, Narrow narrow) {
    const int members = gpu::folded_for(call.kind, call.team.my_pe, call.team.n_pes, call.root);
    const std::uint64_t count = call.bytes / sizeof(T);
    std::unique_ptr<Wide[]> sums(new Wide[count]());
    for (int pe = 0; pe < members; ++pe) {
        const T* from = reinterpret_cast<const T*>(sources.of(pe, block));
        for (std::uint64_t i = 0; i < count; ++i) {
            const Wide value = scaled(call, widen(from[i]));
            sums[i] = pe == 0 ? value : step(call.op, sums[i], value);
        }
    }
    device::sync(call.team, device::Thread{});
    if (members == 0 && call.kind == gpu::Group::reduce_to) return;
    auto* dst = static_cast<T*>(call.dst);
    for (std::uint64_t i = 0; i < count; ++i) dst[i] = narrow(finished(call, sums[i]));
}
template <class T> void fold(const gpu::GroupCall& call, const Sources& sources, int block) {
    const auto same = [](T value) { return value; };
    fold<T, T>(call, sources, block, same, same);
}

/// Folds bfloat16 in float.
void fold_bfloat16(const gpu::GroupCall& call, const Sources& sources, int block) {
    fold<std::uint16_t, float>(
        call, sources, block,
        [](std::uint16_t bits) { return value_of<float>(static_cast<std::uint32_t>(bits) << 16); },
        [](float value) {
            std::uint32_t word;
            std::memcpy(&word, &value, sizeof word);
            return static_cast<std::uint16_t>(word >> 16);
        });
}

void reduce(const gpu::GroupCall& call, const Sources& sources) {
    const int block = call.kind == gpu::Group::reduce_scatter ? call.team.my_pe : 0;
    if (call.type == DType::bfloat16) return fold_bfloat16(call, sources, block);
    if (call.type == DType::complex64) return fold<std::complex<float>>(call, sources, block);
    if (call.type == DType::complex128) return fold<std::complex<double>>(call, sources, block);
    visit_word(call.type, [&]<class T>(T) { fold<T>(call, sources, block); });
}

/// Computes this PE's part of the result; the next synchronization of its stream ends the call.
void reduce_part(const gpu::GroupCall& call) {
    const gpu::GroupPart part = gpu::group_part(call.bytes, call.team.n_pes, call.team.my_pe);
    const Sources sources(call, part.first);
    gpu::GroupCall own = call;
    own.dst = static_cast<char*>(call.dst) + part.first;
    own.bytes = part.last - part.first;
    device::sync(call.team, device::Thread{});
    reduce(own, sources);
}

}  // namespace

void perform(const gpu::GroupCall& call) {
    using gpu::Group;
    if (call.kind == Group::reduce_part) return reduce_part(call);
    const device::Thread thread;
    const device::Team& team = call.team;
    const Sources sources(call);
    device::sync(team, thread);
    auto* dst = static_cast<char*>(call.dst);
    const auto at = [&](int pe) { return dst + static_cast<std::uint64_t>(pe) * call.dst_stride; };
    if (call.kind == Group::broadcast)
        std::memmove(dst, sources.of(call.root), call.bytes);
    else if (call.kind == Group::scatter)
        std::memmove(dst, sources.of(call.root, team.my_pe), call.bytes);
    else if (call.kind == Group::alltoall)
        for (int pe = 0; pe < team.n_pes; ++pe) std::memmove(at(pe), sources.of(pe, team.my_pe), call.bytes);
    else if (call.kind == Group::fcollect || (call.kind == Group::gather && call.root == team.my_pe))
        for (int pe = 0; pe < team.n_pes; ++pe) std::memmove(at(pe), sources.of(pe), call.bytes);
    else if (call.kind == Group::reduce || call.kind == Group::reduce_scatter || is_ranged(call.kind))
        reduce(call, sources);
    device::sync(team, thread);
}

/// Members exchange the locations of their sources, as in the library's kernel.
void perform(const gpu::CollectCall& collect) {
    const gpu::GroupCall& call = collect.group;
    const device::Team& team = call.team;
    const gpu::GroupMemory memory{team.n_pes, call.words_bytes};
    const auto source_words = [&](int at, int from) {
        return reinterpret_cast<std::uint64_t*>(device::peer(team, call.memory, at) +
                                                memory.source_at(0, from));
    };
    const char* mine = team.window + team.my_slot * team.stride;
    for (int pe = 0; pe < team.n_pes; ++pe) {
        source_words(pe, team.my_pe)[0] =
            static_cast<std::uint64_t>(static_cast<const char*>(call.src) - mine);
        source_words(pe, team.my_pe)[1] = call.bytes;
    }
    device::sync(team, device::Thread{});
    std::uint64_t total = 0;
    for (int pe = 0; pe < team.n_pes; ++pe) total += source_words(team.my_pe, pe)[1];
    if (total > collect.dst_bytes)
        throw Error(ErrorCode::kernel, "The simulated GPU stopped a kernel: dst of a collect is too small.");
    auto* dst = static_cast<char*>(call.dst);
    for (int pe = 0; pe < team.n_pes; ++pe) {
        const std::uint64_t* from = source_words(team.my_pe, pe);
        if (from[1] != 0)
            std::memcpy(dst, team.window + device::slot_of(team, pe) * team.stride + from[0], from[1]);
        dst += from[1];
    }
    device::sync(team, device::Thread{});
}

/// Goes through the stage in pieces, each of which is a call of symmetric arrays.
void perform(const gpu::StagedCall& staged) {
    const gpu::GroupCall& call = staged.group;
    const auto n = static_cast<std::uint64_t>(call.team.n_pes);
    const std::uint64_t blocks = is_by_target(call.kind) ? n : 1,
                        most = staged.stage_bytes / blocks / 256 * 256;
    for (std::uint64_t at = 0; at < call.bytes; at += most) {
        gpu::GroupCall piece = call;
        piece.bytes = piece.src_stride = std::min(most, call.bytes - at);
        if (!is_from_root(call.kind) || call.root == call.team.my_pe)
            for (std::uint64_t i = 0; i < blocks; ++i)
                std::memcpy(staged.stage + i * piece.bytes,
                            static_cast<const char*>(call.src) + i * call.bytes + at, piece.bytes);
        piece.src = staged.stage;
        if (call.dst) piece.dst = static_cast<char*>(call.dst) + at;
        perform(piece);
    }
}

}  // namespace atl::simulated
