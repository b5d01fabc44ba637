#include "cli/command/package.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "cli/command/program.hpp"
#include "common/settings/settings.hpp"

namespace atl::cli {

void become_module(const std::string& module, const Arguments& arguments, const std::string& use,
                   const std::string& remedy) {
    unsetenv("ATOLL_COMPAT");  // for programs of the user
    Arguments command{"-m", module};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Program program;
    try {
        program = find_program(command, common::read_settings().python);
    } catch (const UsageError& error) {
        throw UsageError(use + " needs Python: " + error.what() + "; " + remedy);
    }
    if (!has_atoll(program.path))
        throw UsageError(use + " needs Python's package atoll, which " + program.path + " has not; " +
                         remedy);
    std::vector<char*> words;
    for (std::string& word : program.arguments) words.push_back(word.data());
    words.push_back(nullptr);
    execv(program.path.c_str(), words.data());
    throw UsageError(program.path + " cannot be started: " + std::strerror(errno));
}

}  // namespace atl::cli
