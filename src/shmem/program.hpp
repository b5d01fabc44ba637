// Properties of the program that has loaded this library.
#pragma once

namespace atl::shmem {

/// True if the executable was linked with this library, directly or through other libraries. False if a
/// program loads the library later, as Python does: its static data must not be touched.
bool is_linked_by_executable();

/// True if clang's ThreadSanitizer is linked in. It keeps its state in the executable's static memory, which
/// must then not be moved.
bool has_tsan_inside();

}  // namespace atl::shmem
