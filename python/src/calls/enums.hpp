// Operators and comparisons in Python: enum members, or text.
#pragma once

#include "calls/state.hpp"

namespace atl::python {

Compare compare_of(const Spec& spec, PyObject* value);
ReduceOp reduce_op_of(const Spec& spec, PyObject* value);
SignalOp signal_op_of(const Spec& spec, PyObject* value);

}  // namespace atl::python
