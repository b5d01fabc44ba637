// Keys of PyTorch's store by which the ranks of a group find each other.
#pragma once

#include "work.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace atoll_c10d {

/// Waits for a key of the store, and throws an error that names the missing step.
inline std::string awaited(c10d::Store& store, const std::string& key, const std::string& step,
                           Milliseconds timeout) {
    try {
        store.wait({key}, timeout);
    } catch (const std::exception& error) {
        throw_failure(
            ATOLL_TIMED_OUT,
            c10::str(step, " within ", std::chrono::duration<double>(timeout).count(), " s: ", error.what()));
    }
    return store.get_to_str(key);
}

/// The keys of one group. A store may outlive a group, so every group of a store has its own keys: those of
/// its first, second, ... set of `size` tickets.
inline std::string keys_of_group(c10d::Store& store, const std::string& prefix, int size) {
    const std::int64_t ticket = store.add(prefix + "/tickets", 1);
    return prefix + "/" + std::to_string((ticket - 1) / size);
}

}  // namespace atoll_c10d
