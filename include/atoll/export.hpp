/// What the shared library shows. Everything is hidden unless marked, so that a symbol is public on purpose.
///
/// Mark free functions, and classes whose members are defined in a source file or which are thrown
/// (an exception's type must be one object in the whole process): `class ATOLL_API Error ...`.
#pragma once

#define ATOLL_API __attribute__((visibility("default")))
