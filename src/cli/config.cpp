// `atoll config`: the flags with which other build systems compile and link programs.
#include <cstdio>

#include "cli/command/command.hpp"
#include "cli/config.hpp"
#include "cli/installed_tree.hpp"

namespace atl::cli {
namespace {

constexpr const char* usage =
    "usage: atoll config (--cxx | --shmem | --nvshmem) [--cflags | --libs | --home]\n"
    "       atoll config --nvshmem-home\n\n"
    "Prints the flags that a compiler needs for a program of Atoll's C++ API (--cxx), of OpenSHMEM (--shmem) "
    "or of\n"
    "NVSHMEM's host functions (--nvshmem): those that compile (--cflags), those that link (--libs), or "
    "both.\n"
    "--home prints the folder that holds include and lib. --nvshmem-home is short for --nvshmem --home: the "
    "folder\n"
    "that Makefiles of NVSHMEM's programs take as NVSHMEM_HOME.\n\n"
    "For example: c++ prog.cpp $(atoll config --nvshmem) -o prog\n";

struct Library {
    const char* option;
    const char* name;
    const char* folder;  ///< in the installed tree; it holds include and lib
};
constexpr Library libraries[] = {
    {"--cxx", "atoll", ""}, {"--shmem", "atoll_shmem", ""}, {"--nvshmem", "nvshmem_host", "/nvshmem"}};

std::string tree() {
    const std::string found = installed_tree();
    if (!found.empty()) return found;
    throw UsageError("there is no include/shmem.h beside " + executable_folder() +
                     "; install Atoll by `cmake --install` or pip, and use that launcher");
}

}  // namespace

int config_command(const Arguments& given) {
    Arguments arguments;
    for (const std::string& argument : given) {
        const bool is_both = argument == "--nvshmem-home";
        arguments.push_back(is_both ? "--nvshmem" : argument);
        if (is_both) arguments.emplace_back("--home");
    }
    const Library* library = nullptr;
    std::string part;
    for (const std::string& argument : arguments) {
        if (argument == "--help" || argument == "-h") {
            std::fputs(usage, stdout);
            return 0;
        }
        const Library* named = nullptr;
        for (const Library& each : libraries)
            if (argument == each.option) named = &each;
        if (named != nullptr && library == nullptr)
            library = named;
        else if (part.empty() && (argument == "--cflags" || argument == "--libs" || argument == "--home"))
            part = argument;
        else
            throw UsageError("`" + argument + "` is unknown, or one too many\n" + usage);
    }
    if (library == nullptr) throw UsageError(usage);
    const std::string root = tree() + library->folder, lib = root + "/lib";
    const std::string compile = "-I" + root + "/include";
    const std::string link =
        "-L" + lib + " -Xlinker -rpath=" + lib + " -l" + library->name;  // nvcc knows no -Wl
    const std::string text = part == "--home"     ? root
                             : part == "--cflags" ? compile
                             : part == "--libs"   ? link
                                                  : compile + " " + link;
    std::puts(text.c_str());
    return 0;
}

}  // namespace atl::cli
