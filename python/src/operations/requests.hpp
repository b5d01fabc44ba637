// Collectives that are started by blocking=False, and the arrays that they use until they are done.
#pragma once

#include "arrays/staging.hpp"
#include "atoll/requests.hpp"

#include <memory>
#include <optional>

namespace atl::python {

/// A started collective. The arrays of the call and the copies of strided ones live until it is done.
struct Started {
    Started(const char* the_function, const Team& team) : function(the_function), requests(team) {}

    const char* function;
    Requests requests;
    std::optional<SourceStage> src;
    std::optional<TargetStage> dst;
    Ref held[2];                   ///< src and dst of the call
    Ref result;                    ///< null: None
    bool is_number = false;        ///< a number was passed, so the result is one
    bool is_finished = false;      ///< the data is in dst
    std::optional<Error> failure;  ///< what ended the collective; thrown by each later call
};

/// True if the call only starts. Throws for values other than True, False and None.
bool only_starts(const Spec& spec, PyObject* blocking);
/// The Request of Python for a collective that has been started.
PyObject* request_of(std::unique_ptr<Started> started);
/// Throws if a collective of this PE is not done. Called by the last finalize.
void check_requests_done();

/// Starts a collective on `pair`; `made` is the new array of its result, if it has one. `reads` and `writes`
/// tell which of the two arrays this PE uses. Calls `call(requests, dst, src)`, with null for an array that
/// is not used.
template <class Call>
PyObject* start_request(const Spec& spec, const Team& team, const Adopted& adopted, Pair& pair, Ref made,
                        bool reads, bool writes, Call&& call) {
    if (adopted.n != 0 || (pair.src != nullptr && on_device(pair.src)) ||
        (pair.dst != nullptr && on_device(pair.dst)))
        fail(ErrorCode::unsupported,
             "%s(): blocking=False is for arrays in host memory; with arrays of a GPU pass stream=.",
             spec.name);
    auto started = std::make_unique<Started>(spec.name, team);
    if (reads) {
        started->src.emplace(spec, "src", pair.src);
        started->held[0] = Ref::borrow(reinterpret_cast<PyObject*>(started->src->array()));
    }
    if (writes) {
        started->dst.emplace(spec, "dst", pair.dst);
        started->held[1] = Ref::borrow(reinterpret_cast<PyObject*>(pair.dst));
    }
    started->is_number = static_cast<bool>(pair.held);
    started->result = std::move(made);
    {
        // The start copies data until it would have to wait.
        ReleaseGil released((reads ? started->src->bytes() : 0) >= release_gil_bytes);
        call(started->requests, writes ? &*started->dst : nullptr, reads ? &*started->src : nullptr);
    }
    return request_of(std::move(started));
}

}  // namespace atl::python
