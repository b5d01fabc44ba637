// `atoll new`: makes a folder with the beginnings of a project.
#pragma once

#include "cli/command/command.hpp"

namespace atl::cli {

int new_command(const Arguments& arguments);

}  // namespace atl::cli
