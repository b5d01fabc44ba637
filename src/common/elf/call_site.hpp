// The place in the program that called the library, for errors: file and line, or function and offset.
#pragma once

#include "atoll/export.hpp"

#include <array>
#include <string>

namespace atl::common {

/// Returns a text such as "program.py:12" in Python. In C and C++ "solver.c:12 (main+0x4f)" with debug
/// information, "main+0x4f (program)" without, "main+0x4f, near solver.cpp:12" within an inlined function of
/// our headers. Empty where it cannot be known. Slow. `hook_state` is the result of WaitHooks::enter, null
/// outside a wait.
ATOLL_API std::string call_site(void* hook_state);
/// WaitHooks::site_of_thread; empty without that.
std::string site_of_thread();

/// The return addresses of a call of the library: taken at once, named only for a report.
struct CallFrames {
    std::array<void*, 16> addresses{};
    int count = 0;

    static CallFrames here() noexcept;
};
/// Returns the call site in C or C++ for frames that were recorded earlier.
std::string call_site_of(const CallFrames& frames);

/// The place of a call of the library that goes on after it has returned.
struct CallSite {
    std::string text;   ///< source line in a language front, which names it at once
    CallFrames frames;  ///< frames of C and C++

    static CallSite here();
    /// The same, without the library's own frames.
    static CallSite in_program();
    /// The same text as `call_site` returns. Slow.
    std::string name() const { return text.empty() ? call_site_of(frames) : text; }
};

}  // namespace atl::common
