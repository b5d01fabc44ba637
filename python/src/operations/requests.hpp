// Collectives that are started by blocking=False, and the arrays that they use until they are done.
#pragma once

#include "atoll/requests.hpp"
#include "operations/pair.hpp"

#include <memory>
#include <optional>

namespace atl::python {

/// A started collective. The arrays of the call and the copies of strided ones live until it is done.
struct Started {
    Started(const Spec& spec, const Team& team, const Pair& pair, Ref made)
        : function(spec.name),
          requests(team),
          stages(std::in_place, spec, pair),
          held{Ref::borrow(stages->read()), Ref::borrow(reinterpret_cast<PyObject*>(pair.dst))},
          result(std::move(made)),
          is_number(static_cast<bool>(pair.held)) {}

    const char* function;
    Requests requests;
    std::optional<Stages> stages;
    Ref held[2];                   ///< src and dst of the call
    Ref result;                    ///< null: None
    bool is_number;                ///< a number was passed, so the result is one
    bool is_finished = false;      ///< the data is in dst
    std::optional<Error> failure;  ///< the error that ended the collective; thrown by each later call
};

/// True if the call only starts. Throws for values other than True, False and None, and with a stream.
bool only_starts(const Spec& spec, PyObject* blocking, PyObject* stream);
/// The Request of Python for a collective that has been started.
PyObject* request_of(std::unique_ptr<Started> started);
/// Writes a line for each collective that is not done. Called when the program ends without finalize.
void warn_of_requests();
/// Throws if a collective of this PE is not done. Called by the last finalize.
void check_requests_done();

/// Starts a collective on the arrays of `pair` that this PE uses; the others are null. `made` is the new
/// array of its result, if it has one. Calls `call(requests, dst, src)`.
template <class Call>
PyObject* start_request(const Spec& spec, const Team& team, const Adopted& adopted, const Pair& pair,
                        Ref made, Call&& call) {
    if (adopted.n != 0 || (pair.src != nullptr && on_device(pair.src)) ||
        (pair.dst != nullptr && on_device(pair.dst)))
        fail(ErrorCode::unsupported,
             "%s(): blocking=False is for arrays in host memory; with arrays of a GPU pass stream=.",
             spec.name);
    auto started = std::make_unique<Started>(spec, team, pair, std::move(made));
    {
        const Bytes dst = started->stages->target(), src = started->stages->source();
        const core::Elements elements(team, pair.elements());
        // The start copies data until it would have to wait.
        ReleaseGil released(src.size >= release_gil_bytes);
        call(started->requests, dst, src);
    }
    return request_of(std::move(started));
}

}  // namespace atl::python
