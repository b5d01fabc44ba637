// What the types of objects that callers pass are to us, each looked at once.
#pragma once

#include "py.hpp"

#include <vector>

namespace atl::python {

/// What `find(type)` said of this type first. One for each place that asks.
template <class Kind> class KindsOfTypes {
  public:
    template <class Find> Kind of(PyTypeObject* type, Find&& find) {
        for (const Row& row : known_)
            if (row.type == type) return row.kind;
        const Kind kind = find(type);
        if (known_.size() < most) {
            Py_INCREF(reinterpret_cast<PyObject*>(type));  // so that its address is nobody else's later
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
