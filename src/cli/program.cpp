#include "cli/program.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <sys/auxv.h>
#include <sys/stat.h>
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

/// Empty when no folder of PATH has an executable file of that name.
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

std::string find_python(const std::string& wanted) {
    if (!wanted.empty()) return find_executable(wanted);
    // Beside the name we were started by, then beside the file itself: in a virtual environment `atoll` may
    // be a link to a build elsewhere.
    const std::string started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    const std::size_t slash = started_as.find_last_of('/');
    for (const std::string& folder :
         {slash == std::string::npos ? "." : started_as.substr(0, slash), executable_folder()}) {
        std::string beside = folder + "/python";
        if (kind_of(beside) == Kind::program) return beside;
    }
    if (const char* environment = std::getenv("VIRTUAL_ENV")) {
        std::string its = std::string(environment) + "/bin/python";
        if (kind_of(its) == Kind::program) return its;
    }
    return find_executable("python3");
}

bool is_python_file(const std::string& name) {
    return name.size() > 3 && name.compare(name.size() - 3, 3, ".py") == 0;
}

}  // namespace

bool Program::is_python() const {
    const std::string name = path.substr(path.find_last_of('/') + 1);  // npos + 1: the whole
    return name.compare(0, 6, "python") == 0 || name.compare(0, 4, "pypy") == 0 ||
           (arguments.size() > 1 && is_python_file(arguments[1]));
}

Program find_program(const Arguments& command, const std::string& python) {
    const std::string& name = command[0];
    if (name.empty()) throw UsageError("PROGRAM is empty", UsageError::not_found);
    if (!is_python_file(name)) return {find_executable(name), command};

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
    Program program{find_python(python), command};
    program.arguments.insert(program.arguments.begin(), program.path);
    return program;
}

}  // namespace atl::cli
