// Turns: the order in which callbacks of `Future.then` begin operations, the same on all ranks.
#pragma once

#include "completions.hpp"

#include <ATen/core/ivalue.h>

#include <torch/csrc/utils/pybind.h>

#include <memory>
#include <optional>

namespace atoll_c10d {

using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

/// The origin of a future: an operation of this depth, or a callback of one.
struct Origin {
    std::shared_ptr<Completions> completions;
    int depth = 0;
};

/// Callbacks of this future get turns.
void note_origin(const FuturePtr& future, const Origin& origin);

/// One callback of `then`, from its addition to its end.
class __attribute__((visibility("hidden"))) Turn {
  public:
    explicit Turn(Origin origin);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Gives a turn to a callback that is added to a future of Python. Null for futures of others.
    static std::shared_ptr<Turn> of(const pybind11::object& future);
    /// Calls the callback. The operations that it begins wait for its turn.
    pybind11::object run(const pybind11::object& callback, const pybind11::object& done);
    /// The callbacks of its result have the same origin.
    void follow(const pybind11::object& child) const;

    /// Waits for the turn of the callback that this thread runs, if it is one of the group. Returns the
    /// number of an order of operations of the group: 0 outside such callbacks.
    static int await(const std::shared_ptr<Completions>& group, double timeout_s);
    /// True in a callback of this origin.
    static bool is_within(const Origin& origin);

  private:
    void end();

    const Origin origin_;
    const int number_;
    bool is_over_ = false;
};

}  // namespace atoll_c10d
