#include "cli/debug/debuggers.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "cli/command/memory_file.hpp"

namespace atl::cli {
namespace {

/// Signals that end a program by its own mistake. All others pass: the launcher and Atoll use some of them.
constexpr std::string_view common_commands = R"(set confirm off
set pagination off
set print thread-events off
handle all nostop noprint pass
handle SIGSEGV SIGBUS SIGILL SIGFPE SIGABRT SIGSYS stop print pass
)";

/// Prints the stacks after a crash, and ends with the status that a shell would have shown. A handler of the
/// program may raise the signal once more, as Python's faulthandler does; gdb then lets it pass.
constexpr std::string_view batch_commands = R"(handle SIGINT nostop noprint pass
run
if $_isvoid($_exitcode)
  if $_isvoid($_exitsignal)
    thread apply all backtrace
    handle all nostop noprint pass
    continue
  end
end
if !$_isvoid($_exitsignal)
  quit 128 + $_exitsignal
end
quit $_exitcode
)";

common::Fd file_for_pes(const char* name, std::string_view text) {
    common::Fd file = memory_file(name, text);
    if (!file) throw std::system_error(errno, std::generic_category(), "cannot make a file in memory");
    return file;
}

/// The path by which other processes open a descriptor of this one.
std::string path_of(const common::Fd& file) {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file.get());
}

std::string find_gdb() {
    try {
        return cli::find_program({"gdb"}, "").path;
    } catch (const UsageError&) {
        throw UsageError("--gdb needs gdb, which is not in PATH (on Debian: apt-get install gdb)",
                         UsageError::not_found);
    }
}

}  // namespace

Debuggers::Debuggers(const RunOptions& options, Program& program) {
    if (options.pdb) {
        if (!program.is_python())
            throw UsageError("--pdb debugs programs in Python only; --gdb debugs " + program.path);
        turn_ = file_for_pes("atoll-pdb", "");
        setenv("ATOLL_LAUNCH_PDB", path_of(turn_).c_str(), 1);
    }
    if (!options.gdb) return;
    std::string commands(common_commands);
    commands += options.tmux ? "handle SIGINT stop print nopass\n" : batch_commands;
    script_ = file_for_pes("atoll-gdb", commands);
    Program gdb{find_gdb(), {"gdb", "-q", "-x", path_of(script_)}, program.note};
    if (!options.tmux) gdb.arguments.insert(gdb.arguments.end(), {"-batch", "-iex", "set auto-load off"});
    gdb.arguments.insert(gdb.arguments.end(), {"--args", program.path});
    gdb.arguments.insert(gdb.arguments.end(), program.arguments.begin() + 1, program.arguments.end());
    program = std::move(gdb);
}

}  // namespace atl::cli
