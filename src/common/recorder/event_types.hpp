// Written by api/events.py from api/events.toml.
#pragma once

// clang-format off
#include <cstdint>
#include <iterator>
#include <string_view>

namespace atl::common {

inline constexpr int event_words = 4;

enum class EventKind : std::uint8_t { none, collective, wait, allocate, free_, init, finalize };
inline constexpr std::string_view event_names[] = {"", "collective", "wait", "allocate", "free", "init", "finalize"};
/// Names of an event's words; empty for unused ones.
inline constexpr std::string_view event_word_names[][event_words] = {
    {"", "", "", ""},
    {"argument0", "argument1", "argument2", "argument3"},
    {"place", "compare", "expected", "found"},
    {"bytes", "place", "", ""},
    {"place", "", "", ""},
    {"pes", "", "", ""},
    {"", "", "", ""},
};
inline constexpr bool event_waits[] = {false, false, true, false, false, false, false};

enum class EventState : std::uint8_t { begun, met, ended, failed };
inline constexpr std::string_view event_state_names[] = {"begun", "met", "ended", "failed"};

inline constexpr std::string_view operation_names[] = {
    "other",
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
    "barrier",
    "sync",
    "broadcast",
    "fcollect",
    "collect",
    "alltoall",
    "alltoalls",
    "gather",
    "scatter",
    "reduce",
    "reduce_to",
    "reduce_scatter",
    "inscan",
    "exscan",
    "wait_until",
    "wait_until_all",
    "wait_until_any",
    "wait_until_some",
    "wait_until_all_vector",
    "wait_until_any_vector",
    "wait_until_some_vector",
    "signal_wait_until",
    "signal_wait",
    "set_lock",
    "clear_lock",
    "test_lock",
    "Lock::lock",
    "Lock::unlock",
    "send",
    "recv",
    "message group",
    "Mailbox::post",
    "Mailbox::read",
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

}  // namespace atl::common
// clang-format on
