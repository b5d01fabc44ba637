/// Symbol visibility of the shared library. Symbols are hidden by default, so each exported one is marked.
///
/// Mark free functions, classes with members defined in a source file, and classes that are thrown. (An
/// exception's type must be one object in the whole process.) Example: `class ATOLL_API Error ...`.
#pragma once

#define ATOLL_API __attribute__((visibility("default")))
