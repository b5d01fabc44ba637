// The line of the user's program that called the package.
#pragma once

#include "py.hpp"

#include <string>

namespace atl::python {

struct CallerLine {
    std::string file;  ///< as the program was started: a path, or "<stdin>"
    int number = 0;    ///< 0: no frame of this thread belongs to the program

    explicit operator bool() const { return number > 0; }
    /// "ring.py:12" without folders, or the whole path.
    std::string text(bool with_folders) const;
};

/// The innermost frame outside the package. Needs the GIL; leaves no exception.
CallerLine caller_line();

}  // namespace atl::python
