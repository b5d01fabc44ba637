#include "collective/requests/call.hpp"

#include "core/calls/call_text.hpp"
#include "core/calls/element_codes.hpp"

#include <iterator>

namespace atl::requests {
namespace {

// The bits of a call: kind, operator, type, root.
constexpr unsigned op_shift = 4, type_shift = 8, root_shift = 16;
// The bits of an element type: its letter is above its size.
constexpr unsigned letter_shift = 24;
constexpr std::uint32_t size_mask = (1U << letter_shift) - 1;

Kind kind_of(std::uint32_t bits) { return static_cast<Kind>(bits & 15U); }
ReduceOp op_of(std::uint32_t bits) { return static_cast<ReduceOp>(bits >> op_shift & 15U); }
std::uint32_t type_of(std::uint32_t bits) { return bits >> type_shift & 255U; }
std::uint32_t root_of(std::uint32_t bits) { return bits >> root_shift; }

std::string text_of_call(Kind kind, ReduceOp op, int type, int root, std::uint64_t bytes) {
    std::string text = name_of(kind);
    const bool folds = kind == Kind::reduce || kind == Kind::all_reduce || kind == Kind::reduce_scatter;
    if (folds) text += " (" + core::text_of(op) + ")";
    if (kind != Kind::barrier && kind != Kind::all_to_all) text += " of " + std::to_string(bytes) + " bytes";
    if (folds) text += " of " + core::text_of(static_cast<DType>(type));
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

const char* team_name_of(Kind kind) {
    static const char* const names[] = {"sync",   "broadcast", "reduce_to",      "reduce",  "fcollect",
                                        "gather", "scatter",   "reduce_scatter", "alltoall"};
    const auto index = static_cast<std::size_t>(kind);
    return index < std::size(names) ? names[index] : name_of(kind);
}

const char* operation_of(const Call& call) {
    if (!call.is_message()) return name_of(call.kind);
    if (call.tag < 0) return "monitored_barrier";  // PyTorch's own tags are not negative
    return call.kind == Kind::send ? "send" : "recv";
}

std::uint32_t Call::bits() const {
    std::uint32_t bits = static_cast<std::uint32_t>(kind);
    if (folds())
        bits |= static_cast<std::uint32_t>(op) << op_shift | static_cast<std::uint32_t>(type) << type_shift;
    return bits | static_cast<std::uint32_t>(root) << root_shift;
}

std::string Call::text(std::uint64_t bytes) const {
    if (is_message()) {
        const auto& data = kind == Kind::send ? in : out;  // members compare no bytes of messages
        return std::string(name_of(kind)) + " of " + std::to_string(data.empty() ? bytes : data[0].bytes) +
               " bytes by tag " + std::to_string(tag);
    }
    return text_of_call(kind, op, type, root, bytes);
}

Announcement Request::announcement(std::uint64_t of_bytes) const {
    const auto letter = static_cast<std::uint32_t>(call.elements >> 32);
    const auto size = static_cast<std::uint32_t>(call.elements) & size_mask;
    return {
        .call = call.bits(), .elements = letter << letter_shift | size, .number = number, .bytes = of_bytes};
}

std::string Announcement::text() const {
    return text_of_call(kind_of(call), op_of(call), static_cast<int>(type_of(call)),
                        static_cast<int>(root_of(call)), bytes);
}

core::CallRecord Announcement::record(int n) const {
    const Kind kind = kind_of(call);
    const char* const name = team_name_of(kind);
    const std::uint64_t type = type_of(call), op = static_cast<std::uint64_t>(op_of(call));
    switch (kind) {
        case Kind::barrier:
            return core::call_record(name);
        case Kind::all_reduce:
        case Kind::reduce:
            return core::call_record(name, bytes, root_of(call), type, op);
        case Kind::reduce_scatter:
            return core::call_record(name, bytes / static_cast<std::uint64_t>(n), 0, type, op);
        default:
            return core::call_record(
                name, bytes, root_of(call), 0,
                elements == 0
                    ? 0
                    : core::elements_of(static_cast<char>(elements >> letter_shift), elements & size_mask));
    }
}

}  // namespace atl::requests
