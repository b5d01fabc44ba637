// The place in the program at which a PE crashed.
#pragma once

#include <string>

#include "common/board/board.hpp"

namespace atl::cli {

/// Returns a text such as " at solver.py:61", " in step at solver.c:61": the innermost line of the program,
/// else the innermost function. `number` is the signal that ended the PE. Empty if it is not known.
std::string crash_site(const common::BoardView& board, int pe, int number);
/// True if the PE crashed since its stack was full.
bool has_full_stack(const common::BoardView& board, int pe, int number);

}  // namespace atl::cli
