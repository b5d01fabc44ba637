#include "collective/requests/call.hpp"

#include "core/team/call_text.hpp"

namespace atl::requests {
namespace {

// The bits of a fingerprint: kind, operator, type, root.
constexpr unsigned op_shift = 4, type_shift = 8, root_shift = 16;

std::string text_of_call(Kind kind, ReduceOp op, int root, std::uint64_t bytes) {
    std::string text = name_of(kind);
    const bool folds = kind == Kind::reduce || kind == Kind::all_reduce || kind == Kind::reduce_scatter;
    if (folds) text += " (" + core::text_of(op) + ")";
    if (kind != Kind::barrier && kind != Kind::all_to_all) text += " of " + std::to_string(bytes) + " bytes";
    const bool rooted =
        kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::gather || kind == Kind::scatter;
    if (rooted) text += " with root " + std::to_string(root);
    return text;
}

}  // namespace

const char* name_of(Kind kind) {
    static const char* const names[n_kinds] = {"barrier",    "broadcast", "reduce",  "all_reduce",
                                               "all_gather", "gather",    "scatter", "reduce_scatter",
                                               "all_to_all", "send",      "receive"};
    const auto index = static_cast<std::size_t>(kind);
    return index < n_kinds ? names[index] : "another call";
}

std::uint32_t Call::fingerprint() const {
    std::uint32_t bits = static_cast<std::uint32_t>(kind);
    if (folds())
        bits |= static_cast<std::uint32_t>(op) << op_shift | static_cast<std::uint32_t>(type) << type_shift;
    return bits | static_cast<std::uint32_t>(root) << root_shift;
}

std::string Call::text(std::uint64_t bytes) const {
    if (is_message())
        return std::string(name_of(kind)) + " of " + std::to_string(bytes) + " bytes by tag " +
               std::to_string(tag);
    return text_of_call(kind, op, root, bytes);
}

std::string text_of(std::uint32_t fingerprint, std::uint64_t bytes) {
    return text_of_call(static_cast<Kind>(fingerprint & 15u),
                        static_cast<ReduceOp>(fingerprint >> op_shift & 15u),
                        static_cast<int>(fingerprint >> root_shift), bytes);
}

}  // namespace atl::requests
