// Written by api/events.py from api/events.toml.
#pragma once

// clang-format off
#include <cstdint>
#include <iterator>
#include <string_view>

namespace atl::common {

inline constexpr int event_words = 4;

enum class EventKind : std::uint8_t { none, collective, request, wait, allocate, free_, move, range, kernel, init, finalize };
inline constexpr std::string_view event_names[] = {"", "collective", "request", "wait", "allocate", "free", "move", "range", "kernel", "init", "finalize"};
/// Names of an event's words; empty for unused ones.
inline constexpr std::string_view event_word_names[][event_words] = {
    {"", "", "", ""},
    {"argument0", "argument1", "argument2", "argument3"},
    {"argument0", "argument1", "argument2", "argument3"},
    {"place", "compare", "expected", "found"},
    {"bytes", "place", "", ""},
    {"place", "", "", ""},
    {"bytes", "place", "value", ""},
    {"", "", "", ""},
    {"bytes", "place", "value", ""},
    {"pes", "", "", ""},
    {"", "", "", ""},
};
inline constexpr bool event_waits[] = {false, false, false, true, false, false, false, false, false, false, false};

enum class EventState : std::uint8_t { begun, met, ended, failed };
inline constexpr std::string_view event_state_names[] = {"begun", "met", "ended", "failed"};

inline constexpr std::string_view operation_names[] = {
    "other",
    "signal_wait_until",
    "signal_consume",
    "local_wait_until",
    "wait_until",
    "wait_until_all",
    "wait_until_any",
    "wait_until_some",
    "wait_until_all_vector",
    "wait_until_any_vector",
    "wait_until_some_vector",
    "receive",
    "post",
    "send",
    "recv",
    "sync of a grid",
    "sync",
    "barrier",
    "broadcast",
    "fcollect",
    "collect",
    "alltoall",
    "gather",
    "scatter",
    "reduce",
    "reduce_scatter",
    "tile_reduce",
    "tile_rooted_reduce",
    "tile_allgather",
    "tile_broadcast",
    "peer",
    "ptr",
    "p",
    "g",
    "put",
    "get",
    "put_nbi",
    "get_nbi",
    "iput",
    "iget",
    "an atomic",
    "atomic_fetch",
    "atomic_set",
    "atomic_swap",
    "atomic_compare_swap",
    "atomic_add",
    "atomic_fetch_add",
    "atomic_and",
    "atomic_fetch_and",
    "atomic_or",
    "atomic_fetch_or",
    "atomic_xor",
    "atomic_fetch_xor",
    "signal_set",
    "signal_add",
    "put_signal",
    "put_signal_nbi",
    "async_put",
    "tile_put",
    "tile_get",
    "quiet",
    "fence",
    "flush",
    "take",
    "put_at",
    "add_at",
    "alltoalls",
    "scan",
    "allocate",
    "free",
    "realloc",
    "register",
    "mailbox",
    "device_mailbox",
    "heap_reset",
    "split",
    "split_strided",
    "split_2d",
    "team_split",
    "team_destroy",
    "init",
    "finalize",
    "agree",
    "reduce_to",
    "inscan",
    "exscan",
    "signal_wait",
    "set_lock",
    "clear_lock",
    "test_lock",
    "Lock::lock",
    "Lock::unlock",
    "message group",
    "mailbox post",
    "mailbox receive",
    "Lock.acquire",
    "Lock.release",
    "Request.wait",
    "Request.test",
    "Requests::wait",
    "Requests::test",
    "signal",
    "calloc",
    "team_init",
    "accumulate",
};

/// Number of an operation in `operation_names`; 0 for an unlisted one.
constexpr std::uint16_t operation_number(std::string_view name) {
    for (std::size_t i = 1; i < std::size(operation_names); ++i)
        if (operation_names[i] == name) return static_cast<std::uint16_t>(i);
    return 0;
}
constexpr std::string_view operation_name(std::uint16_t number) {
    return operation_names[number < std::size(operation_names) ? number : 0];
}
inline constexpr std::size_t operation_count = std::size(operation_names);

/// Collectives whose first argument is a number of bytes.
constexpr bool is_sized(std::uint16_t number) {
    constexpr std::string_view names[] = {"allocate", "register", "broadcast", "fcollect", "alltoall", "alltoalls", "gather", "scatter", "reduce", "reduce_to", "reduce_scatter", "inscan", "exscan"};
    for (const std::string_view name : names)
        if (name == operation_name(number)) return true;
    return false;
}
/// Calls whose bytes are in flight until their context is quiet.
constexpr bool is_unfinished(std::uint16_t number) {
    constexpr std::string_view names[] = {"put_nbi", "get_nbi", "put_signal_nbi"};
    for (const std::string_view name : names)
        if (name == operation_name(number)) return true;
    return false;
}
/// Collectives that complete the default context of their team.
constexpr bool completes_context(std::uint16_t number) {
    constexpr std::string_view names[] = {"barrier", "allocate", "free", "realloc", "register", "mailbox", "device_mailbox", "heap_reset", "team_destroy", "finalize"};
    for (const std::string_view name : names)
        if (name == operation_name(number)) return true;
    return false;
}

}  // namespace atl::common
// clang-format on
