// A cache of classifications of Python types.
#pragma once

#include "calls/py.hpp"

#include <vector>

namespace atl::python {

/// Caches the result of `find(type)` for each type. Each caller has a separate cache.
template <class Kind> class KindsOfTypes {
  public:
    template <class Find> Kind of(PyTypeObject* type, Find&& find) {
        for (const Row& row : known_)
            if (row.type == type) return row.kind;
        const Kind kind = find(type);
        if (known_.size() < most) {
            Py_INCREF(reinterpret_cast<PyObject*>(type));  // prevents reuse of the address
            known_.push_back({type, kind});
        }
        return kind;
    }

  private:
    static constexpr std::size_t most = 64;
    struct Row {
        PyTypeObject* type;
        Kind kind;
    };
    std::vector<Row> known_;
};

}  // namespace atl::python
