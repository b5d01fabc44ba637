// Texts of the calls of a team's members: a record's numbers are compared, these texts are shown.
#pragma once

#include "atoll/types.hpp"
#include "core/calls/call_record.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace atl::core {

/// "float64", "long double"; "sum", "and". For unknown numbers: "type 77", "operator 9".
std::string text_of(DType type);
std::string text_of(ReduceOp op);
/// The dtype of elements_of as NumPy names it, such as "float64", "bool" and "V12".
std::string elements_text(std::uint64_t elements);

/// False for the data of a collective that meets without a record, below ATOLL_CHECK=all. Other members then
/// find these data in the record's place.
bool is_record(const CallRecord& record);

/// The record's operation as a literal, which outlives the record; "a collective" for an unknown one.
const char* lasting_name(const CallRecord& record);

/// Returns a text such as "sum_reduce(bytes=24, dtype=float64)", of data that are a record.
std::string call_text(const CallRecord& record);

/// Prefix of errors about calls that differ, before the PEs and their calls. The launcher searches for its
/// last words.
std::string called_differently(const std::string& team);
inline constexpr std::string_view differently = " differently: ";
/// The end of a sentence that names the calls of two groups of PEs. Python's errors have it, too.
inline constexpr std::string_view calls_differ = ": the calls differ";

/// Returns a text such as "barrier at x.py:12". A site of a call that makes calls of its own names it first:
/// "exchange_halo at heat.py:12 (its barrier)". `call` may have arguments.
std::string with_site(const std::string& call, std::string_view site);
/// The call that a site names, such as "exchange_halo" of "heat.py:12 (exchange_halo)"; empty without one.
std::string_view call_of_site(std::string_view site);
/// The call and the site of a placed text.
std::pair<std::string, std::string> split_site(std::string_view text);

/// A member's call, and its place in the program: "program.py:12", or empty.
struct CallOf {
    int pe;
    CallRecord record;
    std::string site;
};
/// The sentence of Error(collective_mismatch) for two members of `team` in different calls.
std::string mismatch_text(const std::string& team, const CallOf& one, const CallOf& other);

/// Returns a text such as "; they differ in dtype and op". Empty if the records are of different operations.
std::string difference_text(const CallRecord& one, const CallRecord& other);

}  // namespace atl::core
