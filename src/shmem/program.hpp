// What kind of program has loaded this library.
#pragma once

namespace atl::shmem {

/// The executable was linked with this library, itself or through libraries that it was linked with. Not so
/// where a program loads the library later, as Python does: then nothing of that program may be touched.
bool is_linked_by_executable();

/// clang's ThreadSanitizer keeps its own state in the executable's static memory, which must not move.
bool has_tsan_inside();

}  // namespace atl::shmem
