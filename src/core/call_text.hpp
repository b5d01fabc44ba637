// What members of a team called, in words: a record's numbers are for comparing, these are for readers.
#pragma once

#include "atoll/types.hpp"
#include "core/team_state.hpp"

#include <string>

namespace atl::core {

/// "float64", "long double"; "sum", "and". Of numbers that are none: "type 77", "operator 9".
std::string text_of(DType type);
std::string text_of(ReduceOp op);

/// Without ATOLL_CHECK=all collectives that move data meet without a record, and their data stand where
/// others look for one.
bool is_record(const CallRecord& record);

/// The record's operation as a literal, which outlives the record; "a collective" for an unknown one.
const char* lasting_name(const CallRecord& record);

/// " called reduce(bytes=24, dtype=float64, op=sum)".
std::string call_text(const CallRecord& record);

/// What a member called, and where its program did: "program.py:12", or empty.
struct CallOf {
    int pe;
    CallRecord record;
    std::string site;
};
/// The sentence of Error(collective_mismatch) for two members of `team` in different calls.
std::string mismatch_text(const std::string& team, const CallOf& one, const CallOf& other);

/// "; they differ in dtype and op"; empty unless both are of the same operation.
std::string difference_text(const CallRecord& one, const CallRecord& other);

}  // namespace atl::core
