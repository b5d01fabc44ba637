#include "core/calls/call_text.hpp"

#include "common/recorder/operation_names.hpp"
#include "common/recorder/recorder.hpp"
#include "common/text.hpp"
#include "core/calls/element_codes.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace atl::core {

namespace {

constexpr const char* type_names[dtype_count] = {
    "int8",    "int16",   "int32",       "int64",     "uint8",      "uint16", "uint32",  "uint64",
    "float32", "float64", "long double", "complex64", "complex128", "bool",   "float16", "bfloat16",
};

/// The format of a number of a record.
enum class Shown : std::uint8_t {
    never,        ///< unused
    always,       ///< written name=number
    unless_zero,  ///< likewise
    in_name,      ///< compared, but not shown
    as_type,
    as_op,
    as_elements,  ///< written by elements_of; omitted if 0
    as_memory,    ///< AllocationHints, by allocation_bits
};
struct Argument {
    std::string_view name;
    Shown shown = Shown::never;
};
struct Call {
    std::string_view operation;
    Argument arguments[4];
};

constexpr Argument none{}, bytes{"bytes", Shown::always}, root{"root", Shown::always},
    dst_bytes{"dst_bytes", Shown::always}, src_bytes{"src_bytes", Shown::always},
    offset{"offset", Shown::always}, dtype{"dtype", Shown::as_type}, op{"op", Shown::as_op},
    elements{"dtype", Shown::as_elements}, memory{"memory", Shown::as_memory}, slots{"slots", Shown::always};

constexpr Call calls[] = {
    {"allocate", {bytes, {"align", Shown::unless_zero}, memory, elements}},
    {"free", {offset, none, memory, none}},
    {"realloc", {offset, bytes, memory, none}},
    {"register",
     {bytes,
      {"offset_within_allocation", Shown::unless_zero},
      {"parts", Shown::unless_zero},
      {"the parts that the memory was made of", Shown::in_name}}},
    {"mailbox", {bytes, slots, none, none}},
    {"device_mailbox", {bytes, slots, none, none}},
    {"split_strided", {{"start", Shown::always}, {"stride", Shown::always}, {"size", Shown::always}, none}},
    {"split_2d", {{"xrange", Shown::always}, none, none, none}},
    {"broadcast", {dst_bytes, root, {"src_bytes", Shown::unless_zero}, elements}},
    {"fcollect", {bytes, none, none, elements}},
    {"collect", {none, none, none, elements}},
    {"alltoall", {bytes, none, none, elements}},
    {"alltoalls", {bytes, none, {"dst_stride", Shown::unless_zero}, {"src_stride", Shown::unless_zero}}},
    {"gather", {src_bytes, root, {"dst_bytes", Shown::unless_zero}, elements}},
    {"scatter", {dst_bytes, root, {"src_bytes", Shown::unless_zero}, elements}},
    {"reduce", {bytes, none, dtype, op}},
    {"reduce_to", {bytes, root, dtype, op}},
    {"reduce_scatter", {dst_bytes, none, dtype, op}},
    {"inscan", {bytes, none, dtype, op}},
    {"exscan", {bytes, none, dtype, op}},
    // These compare their names alone.
    {"barrier", {}},
    {"sync", {}},
    {"split", {}},
    {"heap_reset", {}},
    {"init", {}},
    {"finalize", {}},
};
constexpr Call unknown{"a collective", {}};

std::string_view operation_of(const CallRecord& record) {
    return {record.operation, strnlen(record.operation, sizeof record.operation)};
}

const Call& call_of(const CallRecord& record) {
    const auto* known = std::find_if(std::begin(calls), std::end(calls),
                                     [&](const Call& c) { return c.operation == operation_of(record); });
    return known == std::end(calls) ? unknown : *known;
}

std::string memory_text(std::uint64_t bits) {
    std::string text = (bits & allocation_bits::device) != 0 ? "on the GPU" : "in host memory";
    std::vector<std::string> hints;
    if ((bits & allocation_bits::atomics_remote) != 0) hints.emplace_back("atomics");
    if ((bits & allocation_bits::signal_remote) != 0) hints.emplace_back("signals");
    return hints.empty() ? text : text + ", hinted for remote " + common::list_text(hints);
}

/// Empty for an argument that is not shown.
std::string argument_text(const Argument& argument, std::uint64_t value) {
    const auto assigned = [&](const std::string& text) { return std::string(argument.name) + "=" + text; };
    switch (argument.shown) {
        case Shown::never:
        case Shown::in_name:
            return {};
        case Shown::unless_zero:
            if (value == 0) return {};
            [[fallthrough]];
        case Shown::always:
            return assigned(std::to_string(static_cast<std::int64_t>(value)));
        case Shown::as_type:
            return assigned(text_of(static_cast<DType>(value)));
        case Shown::as_op:
            return assigned(text_of(static_cast<ReduceOp>(value)));
        case Shown::as_elements:
            return value == 0 ? std::string() : assigned(elements_text(value));
        case Shown::as_memory:
            return memory_text(value);
    }
    return {};
}

/// Types with a number in place of their size; other numbers are of structured types.
constexpr const char* special_dtypes[] = {"bfloat16",    "float8_e4m3fn",   "float8_e4m3fnuz",
                                          "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"};
std::string record_text(std::uint32_t number) {
    for (const char* name : special_dtypes)
        if (record_number(name) == number) return name;
    return "a structured dtype (its fields have the hash " + std::to_string(number) + ")";
}

/// A unit as NumPy writes it: "[ms]", "[25us]"; nothing for a time without a unit. A multiple of 0 was too
/// large for a message's header.
std::string unit_text(const TimeUnit& unit) {
    constexpr const char* units[] = {"Y",  "M",  "W",  "",   "D",  "h",  "m", "s",
                                     "ms", "us", "ns", "ps", "fs", "as", "",  ""};
    const std::string name = units[unit.base];
    if (name.empty()) return {};
    if (unit.multiple == 0) return "[many " + name + "]";
    return "[" + (unit.multiple == 1 ? std::string() : std::to_string(unit.multiple)) + name + "]";
}

std::string difference_of(const Argument& argument, std::uint64_t one, std::uint64_t other) {
    if (argument.shown != Shown::as_memory) return std::string(argument.name);
    if (((one ^ other) & allocation_bits::device) != 0) return "where the memory is";
    return "hints";
}

}  // namespace

const char* lasting_name(const CallRecord& record) { return call_of(record).operation.data(); }

std::string text_of(DType type) {
    const auto t = static_cast<std::size_t>(type);
    return t < std::size(type_names) ? type_names[t] : "type " + std::to_string(t);
}

std::string text_of(ReduceOp op) {
    const auto o = static_cast<std::size_t>(op);
    return o < reduce_op_count ? std::string(common::reduce_op_names[o]) : "operator " + std::to_string(o);
}

std::string elements_text(std::uint64_t elements) {
    constexpr std::pair<char, const char*> kinds[] = {
        {'i', "int"}, {'u', "uint"}, {'f', "float"}, {'c', "complex"}};
    const char kind = static_cast<char>(elements >> 32);
    const auto bytes_each = static_cast<std::uint32_t>(elements);
    if (kind == 'm') return "timedelta64" + unit_text(TimeUnit::from(bytes_each));
    if (kind == 'M') return "datetime64" + unit_text(TimeUnit::from(bytes_each));
    if (kind == record_kind) return record_text(bytes_each);
    if (kind == '\0') return "numbers of " + std::to_string(bytes_each) + " bytes";
    if (kind == 'b') return "bool";
    for (const auto& [letter, name] : kinds)
        if (kind == letter) return name + std::to_string(8 * bytes_each);
    return kind + std::to_string(bytes_each);
}

bool is_record(const CallRecord& record) {
    const std::string_view name = operation_of(record);
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

std::string call_text(const CallRecord& record) {
    std::string name(operation_of(record));
    if (is_refused(record)) return name + "() with arguments that are refused";
    const std::uint64_t values[] = {record.a, record.b, record.c, record.d};
    const std::string called = common::called_name(common::operation_number(operation_of(record)), values);
    const bool has_operator = called != name && call_of(record).operation == name;
    if (has_operator) name = called;
    const Call& call = call_of(record);
    std::string listed;
    for (int i = 0; i < 4; ++i) {
        if (has_operator && call.arguments[i].shown == Shown::as_op) continue;
        const std::string text = argument_text(call.arguments[i], values[i]);
        if (!text.empty()) listed += (listed.empty() ? "" : ", ") + text;
    }
    return name + "(" + listed + ")";
}

std::string difference_text(const CallRecord& one, const CallRecord& other) {
    if (!is_record(one) || operation_of(one) != operation_of(other)) return {};
    if (is_refused(one) || is_refused(other)) return {};
    const std::uint64_t first[] = {one.a, one.b, one.c, one.d};
    const std::uint64_t second[] = {other.a, other.b, other.c, other.d};
    const Call& call = call_of(one);
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i)
        if (first[i] != second[i] && call.arguments[i].shown != Shown::never)
            names.push_back(difference_of(call.arguments[i], first[i], second[i]));
    return names.empty() ? std::string() : "; they differ in " + common::list_text(names);
}

std::string called_differently(const std::string& team) {
    return "PEs called a collective of " + team + std::string(differently);
}

namespace {
constexpr std::string_view site_begin = " at ", inner_begin = " (its ";
}  // namespace

std::string_view call_of_site(std::string_view site) {
    const std::size_t open = site.rfind(" (");
    // Sites of C and C++ have a function and an offset.
    const bool has_call =
        open != std::string_view::npos && site.ends_with(')') && site.find("+0x") == std::string_view::npos;
    return has_call ? site.substr(open + 2, site.size() - open - 3) : std::string_view();
}

std::string with_site(const std::string& call, std::string_view site) {
    if (site.empty()) return call;
    const std::string_view outer = call_of_site(site);
    if (outer.empty()) return call + std::string(site_begin) + std::string(site);
    const std::string_view line = site.substr(0, site.size() - outer.size() - std::string_view(" ()").size());
    return std::string(outer) + std::string(site_begin) + std::string(line) + std::string(inner_begin) +
           call + ")";
}

std::pair<std::string, std::string> split_site(std::string_view text) {
    const std::size_t inner = text.find(inner_begin);
    const std::string_view outer = text.substr(0, inner);
    const std::size_t at = outer.rfind(site_begin);
    const std::string_view site = at == outer.npos ? "" : outer.substr(at + site_begin.size());
    if (inner == text.npos) return {std::string(outer.substr(0, at)), std::string(site)};
    const std::string_view call = text.substr(inner + inner_begin.size());
    return {std::string(call.substr(0, call.rfind(')'))),
            std::string(site) + " (" + std::string(outer.substr(0, at)) + ")"};
}

namespace {
/// Names the call for parts that differ in size, if two calls differ in that alone.
std::string_view advice_on_sizes(const CallRecord& one, const CallRecord& other) {
    if (!is_record(one) || operation_of(one) != operation_of(other)) return {};
    if (one.a == other.a || one.b != other.b || one.d != other.d) return {};
    const std::string_view operation = operation_of(one);
    if (operation == "gather" || operation == "fcollect") return " collect takes parts of different sizes.";
    if (operation == "scatter" || operation == "alltoall")
        return " For parts of different sizes, put each at its offset.";
    return {};
}
}  // namespace

std::string mismatch_text(const std::string& team, const CallOf& one, const CallOf& other) {
    const auto text = [](const CallOf& call) {
        const std::string pe = "PE " + std::to_string(call.pe);
        if (!is_record(call.record))
            return pe + " was in a collective that moves data (ATOLL_CHECK=all names it)" +
                   (call.site.empty() ? "" : std::string(site_begin) + call.site);
        return pe + " called " + with_site(call_text(call.record), call.site);
    };
    return called_differently(team) + text(one) + ", " + text(other) +
           difference_text(one.record, other.record) +
           "; all PEs must make the same collective calls in the same order with the same arguments." +
           std::string(advice_on_sizes(one.record, other.record));
}

}  // namespace atl::core
