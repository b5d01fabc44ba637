#include "collective/arguments.hpp"

#include <string>

#include "atoll/error.hpp"
#include "core/calls/call_text.hpp"

namespace atl::collective {

void throw_shape(const char* operation, const char* argument, std::size_t passed, std::size_t expected,
                 const char* unit) {
    throw Error(ErrorCode::shape_mismatch,
                std::string(operation) + ": " + argument + " has " + std::to_string(passed) + " " + unit +
                    ", " + std::to_string(expected) +
                    " are needed; pass arrays of matching sizes (or a part of one).");
}

void throw_no_room(const State& state, const char* operation, int member) {
    throw Error(ErrorCode::out_of_memory, std::string(operation) +
                                              " found no room for staging in the arena of PE " +
                                              std::to_string(state.team().world_pe(member)) +
                                              "; pass symmetric arrays, destroy unused teams, or raise "
                                              "ATOLL_HEAP_SIZE.");
}

void throw_null(const char* operation, const char* argument, std::size_t bytes) {
    throw Error(ErrorCode::invalid_argument, std::string(operation) + ": a null pointer was passed as " +
                                                 argument + "; pass memory of " + std::to_string(bytes) +
                                                 " bytes, or a size of 0.");
}

namespace {

constexpr const char* rule =
    "all PEs must make the same collective calls in the same order with the same arguments.";

}  // namespace

void throw_sizes(const State& state, const char* operation, int member, std::size_t theirs,
                 std::size_t mine) {
    const auto passed = [&](int i, std::size_t bytes) {
        return "PE " + std::to_string(state.team().world_pe(i)) + " called " + operation +
               "(bytes=" + std::to_string(bytes) + ")";
    };
    throw Error(ErrorCode::collective_mismatch, core::called_differently(state.team().name()) +
                                                    passed(state.my_pe(), mine) + ", " +
                                                    passed(member, theirs) + "; " + rule);
}

void throw_other_call(const State& state, const char* operation, int member) {
    throw Error(ErrorCode::collective_mismatch,
                core::called_differently(state.team().name()) + "PE " +
                    std::to_string(state.team().world_pe(state.my_pe())) + " called " + operation +
                    ", and what PE " + std::to_string(state.team().world_pe(member)) +
                    " passed belongs to another call or has another root; " + rule);
}

void check_scan(ReduceOp op, bool inclusive) {
    if (!inclusive && op != ReduceOp::sum)
        throw Error(ErrorCode::invalid_argument,
                    "An exclusive scan is defined for sum only: its first PE gets 0.");
    if (op == ReduceOp::avg)
        throw Error(ErrorCode::invalid_argument, "Scans do not support avg; scan with sum, and divide.");
}

}  // namespace atl::collective
