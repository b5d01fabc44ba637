// The line of the user's program that called the package.
#pragma once

#include "calls/py.hpp"

#include <string>
#include <string_view>

namespace atl::python {

struct CallerLine {
    std::string file;            ///< path with which the program was started, or "<stdin>"
    std::string operation;       ///< operation of distributed arrays or objects that made the call, such as
                                 ///< "exchange_halo"
    int number = 0;              ///< 0: no frame of this thread belongs to the program
    bool is_allocation = false;  ///< the operation is one of atoll itself that allocates: "zeros", "Lock"

    explicit operator bool() const { return number > 0; }
    /// Returns a text such as "ring.py:12" without folders, or the whole path. With the operation:
    /// "heat.py:12 (exchange_halo)".
    std::string text(bool with_folders) const;
};

/// For its life, lines of this thread's calls name an operation that has no frame in Python: "Lock".
class NamedCall {
  public:
    explicit NamedCall(const char* name) noexcept;
    ~NamedCall();
    NamedCall(const NamedCall&) = delete;
    NamedCall& operator=(const NamedCall&) = delete;

  private:
    const char* before_;
};

/// True for files of the standard library, whose lines tell less than those of its caller. Needs the GIL.
bool is_standard(std::string_view file);

/// The innermost frame outside the package and the standard library, else outside the package. Needs the GIL;
/// leaves no exception. `skipped`: a further package to leave out.
CallerLine caller_line(std::string_view skipped = {});

/// The exception that this thread handles, in an `except`, `finally` or `with`: "ValueError at x.py:12".
/// Empty without one, and for those of the package. Needs the GIL; leaves no exception.
std::string handled_exception();

/// The line of the innermost frame, without folders: "ring.py:12". That of caller_line() if the frame is of
/// the package, which takes longer. Needs the GIL; leaves no exception.
std::string calling_line();

}  // namespace atl::python
