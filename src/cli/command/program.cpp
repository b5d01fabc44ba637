#include "cli/command/program.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sstream>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace atl::cli {
namespace {

enum class Kind { missing, folder, file, program };

Kind kind_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return Kind::missing;
    if (S_ISDIR(status.st_mode)) return Kind::folder;
    return access(path.c_str(), X_OK) == 0 ? Kind::program : Kind::file;
}

/// Empty if no folder of PATH has an executable file of that name.
std::string search_path(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
        if (kind_of(candidate) == Kind::program) return candidate;
    }
    return {};
}

std::string find_executable(const std::string& name) {
    if (name.find('/') == std::string::npos) {
        std::string found = search_path(name);
        if (!found.empty()) return found;
        const bool here = kind_of(name) == Kind::program;
        throw UsageError(
            name + ": there is no such program in PATH" + (here ? "; did you mean ./" + name + "?" : ""),
            UsageError::not_found);
    }
    switch (kind_of(name)) {
        case Kind::program:
            return name;
        case Kind::folder:
            throw UsageError(name + " is a directory, not a program", UsageError::not_executable);
        case Kind::file:
            throw UsageError(name + " is not executable (chmod +x makes it so)", UsageError::not_executable);
        case Kind::missing:
            break;
    }
    throw UsageError(name + ": " + (errno == EACCES ? "permission denied" : "there is no such file"),
                     errno == EACCES ? UsageError::not_executable : UsageError::not_found);
}

/// The Python beside the name by which we were started, or beside the file itself; empty if missing. In a
/// virtual environment `atoll` may be a link to a build elsewhere.
std::string python_beside() {
    const std::string started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    const std::size_t slash = started_as.find_last_of('/');
    for (const std::string& folder :
         {slash == std::string::npos ? "." : started_as.substr(0, slash), executable_folder()}) {
        std::string beside = folder + "/python";
        if (kind_of(beside) == Kind::program) return beside;
    }
    return {};
}

/// The Python of the active environment, found by its variable or as the first in PATH. Empty if no
/// environment is active.
std::string python_of_active_environment() {
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        const char* environment = std::getenv(variable);
        std::string its = environment ? std::string(environment) + "/bin/python" : "";
        if (!its.empty() && kind_of(its) == Kind::program) return its;
    }
    const std::string first = search_path("python");
    if (first.empty()) return {};
    const std::string prefix = first.substr(0, first.find_last_of('/')) + "/..";
    const bool is_environment =
        kind_of(prefix + "/pyvenv.cfg") != Kind::missing || kind_of(prefix + "/conda-meta") == Kind::folder;
    return is_environment ? first : "";
}

bool is_same_folder(const std::string& one, const std::string& other) {
    std::error_code error;
    return std::filesystem::equivalent(std::filesystem::path(one).parent_path(),
                                       std::filesystem::path(other).parent_path(), error);
}

}  // namespace

// Ignores the current folder, which `-c` searches, and a folder named atoll that is not a package.
bool has_atoll(const std::string& python) {
    std::string path = python, flag = "-c",
                code =
                    "import sys; sys.path = [p for p in sys.path if p]; import importlib.util; "
                    "spec = importlib.util.find_spec('atoll'); "
                    "sys.exit(spec is None or spec.origin is None)";
    char* arguments[] = {path.data(), flag.data(), code.data(), nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    signal(SIGCHLD, SIG_DFL);  // if ignored, the exit status would be lost
    pid_t pid = -1;
    const int error = posix_spawn(&pid, python.c_str(), &files, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) return false;
    int status = 1;
    pid_t ended = -1;
    do ended = waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == pid && status == 0;
}

namespace {

/// Selects the Python that runs the program, and a warning about it if needed.
Program find_python(const std::string& wanted) {
    if (!wanted.empty()) return {find_executable(wanted), {}, {}};
    const std::string beside = python_beside(), active = python_of_active_environment();
    if (active.empty() || (!beside.empty() && is_same_folder(active, beside)))
        return {beside.empty() ? find_executable("python3") : beside, {}, {}};
    if (beside.empty() || has_atoll(active)) return {active, {}, {}};
    return {beside, {}, beside + " runs the program: " + active + ", which is active, has no atoll"};
}

bool is_python_file(const std::string& name) {
    return name.size() > 3 && name.compare(name.size() - 3, 3, ".py") == 0;
}

/// The arguments by which Python runs a program with the packages of ATOLL_COMPAT; none if it is not set.
Arguments by_compat() {
    const char* packages = std::getenv("ATOLL_COMPAT");
    return packages && *packages ? Arguments{"-m", "atoll.compat", packages} : Arguments{};
}

/// The place of the program, or of -m, in a command that starts with Python's name; 0 without either.
std::size_t start_of_program(const Arguments& command) {
    for (std::size_t i = 1; i < command.size(); ++i) {
        const std::string& word = command[i];
        if (word == "-m") return i;
        if (word.empty() || word[0] != '-') return i;
        if (word == "-") return 0;
        if (word[1] == '-') {
            if (word == "--check-hash-based-pycs") ++i;  // the only long option with a value
            continue;
        }
        const std::size_t valued = word.find_first_of("WX");  // their value follows, in this word or the next
        if (word.substr(0, valued).find_first_of("cm") != std::string::npos) return 0;
        if (valued + 1 == word.size()) ++i;
    }
    return 0;
}

Program with_python(const Arguments& command, const std::string& python) {
    Program program = find_python(python);
    program.arguments = by_compat();
    program.arguments.insert(program.arguments.begin(), program.path);
    program.arguments.insert(program.arguments.end(), command.begin(), command.end());
    return program;
}

Program start_module(const Arguments& command, const std::string& python) {
    if (command.size() < 2 || command[1].empty() || command[1][0] == '-')
        throw UsageError("-m needs the name of a module, such as -m package.module");
    return with_python(command, python);
}

}  // namespace

bool Program::is_python() const {
    const std::string name = path.substr(path.find_last_of('/') + 1);  // npos + 1: the whole name
    return name.compare(0, 6, "python") == 0 || name.compare(0, 4, "pypy") == 0 ||
           (arguments.size() > 1 && is_python_file(arguments[1]));
}

Program find_program(const Arguments& command, const std::string& python) {
    const std::string& name = command[0];
    if (name.empty()) throw UsageError("PROGRAM is empty", UsageError::not_found);
    if (name == "-m") return start_module(command, python);
    if (!is_python_file(name)) {
        Program program{find_executable(name), command, {}};
        const Arguments by = by_compat();
        const std::size_t start = program.is_python() ? start_of_program(command) : 0;
        if (start > 0)
            program.arguments.insert(program.arguments.begin() + static_cast<std::ptrdiff_t>(start),
                                     by.begin(), by.end());
        else if (!by.empty())
            program.note = "ATOLL_COMPAT=" + by.back() + ": " + name +
                           " is not started as a program of Python, so that only `import atoll` obeys it; "
                           "start the program by python -m atoll.compat " +
                           by.back() + " PROGRAM.py";
        return program;
    }

    switch (kind_of(name)) {
        case Kind::missing:
            throw UsageError(name + ": there is no such file", UsageError::not_found);
        case Kind::folder:
            throw UsageError(name + " is a directory, not a program", UsageError::not_executable);
        default:
            break;
    }
    if (access(name.c_str(), R_OK) != 0)
        throw UsageError(name + " cannot be read", UsageError::not_executable);
    return with_python(command, python);
}

}  // namespace atl::cli
