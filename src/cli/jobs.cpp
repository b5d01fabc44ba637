#include "cli/jobs.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "bootstrap/host/host_segment.hpp"
#include "cli/command/command.hpp"
#include "cli/job/process_group.hpp"
#include "cli/stacks/stacks.hpp"
#include "cli/trace/perfetto.hpp"
#include "cli/trace/report.hpp"
#include "common/descriptors/fd.hpp"
#include "common/log.hpp"
#include "common/text.hpp"
#include "core/hang/cause.hpp"

namespace atl::cli {
namespace {

/// Names in a folder of /proc; empty if it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    DIR* directory = opendir(folder.c_str());
    if (directory == nullptr) return names;
    while (const dirent* entry = readdir(directory)) names.emplace_back(entry->d_name);
    closedir(directory);
    return names;
}

int number_of(const std::string& text) {
    int number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && rest == text.data() + text.size() && number > 0 ? number : 0;
}

/// The descriptor of a job board in process `pid`, which is a launcher; else none.
common::Fd open_board(int pid) {
    const std::string process = "/proc/" + std::to_string(pid);
    char target[64];
    for (const std::string& name : names_in(process + "/fd")) {
        const std::string path = std::string(process).append("/fd/").append(name);
        const ssize_t length = readlink(path.c_str(), target, sizeof target);
        if (length > 0 &&
            std::string(target, static_cast<std::size_t>(length)).starts_with("/memfd:atoll-board"))
            return common::Fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    }
    return {};
}

bool is_launcher(int pid) {
    char link[4096];
    const ssize_t length = readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), link, sizeof link);
    const std::string exe(link, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    return exe.ends_with("/atoll") || exe.ends_with("/atoll (deleted)");
}

/// The reason why a process without a job board is no job.
std::string no_job(int pid) {
    const std::string process = "process " + std::to_string(pid);
    if (is_launcher(pid))
        return process +
               " has no PEs of its own: for a job over several hosts give the number of a PE of this host; " +
               "`atoll ps` lists the jobs";
    return process + " is no `atoll run` of yours on this host, nor a PE; `atoll ps` lists the jobs";
}

const std::string& only_argument(const std::vector<std::string>& arguments, const char* usage) {
    if (arguments.size() != 1 || arguments[0].starts_with('-'))
        throw UsageError(std::string("usage: ") + usage + "; `atoll ps` lists the jobs");
    return arguments[0];
}

}  // namespace

RunningJob::RunningJob(int pid) : RunningJob(pid, open_board(pid)) {}

RunningJob RunningJob::at(const std::string& path) {
    constexpr std::string_view begin = "/proc/";
    const int pid = path.starts_with(begin)
                        ? number_of(path.substr(begin.size(), path.find('/', begin.size()) - begin.size()))
                        : 0;
    return {pid, common::Fd(open(path.c_str(), O_RDWR | O_CLOEXEC))};
}

RunningJob::RunningJob(int pid, const common::Fd& board) : pid_(pid) {
    struct stat status {};
    if (!board || fstat(board.get(), &status) != 0 ||
        static_cast<std::size_t>(status.st_size) < sizeof(common::BoardHeader))
        throw UsageError(no_job(pid));
    bytes_ = static_cast<std::size_t>(status.st_size);
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, board.get(), 0);
    if (memory == MAP_FAILED)
        throw UsageError("the job board of process " + std::to_string(pid) + " cannot be mapped");
    memory_ = memory;
    board_ = common::BoardView(memory_);
    const common::BoardHeader& header = board_.header();
    if (header.magic == common::board_magic && header.version == common::board_version && header.n_pes > 0 &&
        common::BoardView::bytes(header.n_pes) <= bytes_)
        return;
    munmap(memory_, bytes_);
    throw UsageError("the job of process " + std::to_string(pid) + " is of another release of Atoll");
}

RunningJob::RunningJob(RunningJob&& other) noexcept
    : pid_(other.pid_),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      board_(other.board_) {}

RunningJob::~RunningJob() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
}

namespace {

bool is_pe_of(const common::BoardView& board, int pid) {
    for (int pe = 0; pe < board.n_pes(); ++pe)
        if (board.entry(pe).pid.load() == pid) return true;
    return false;
}

}  // namespace

std::vector<RunningJob> RunningJob::all() {
    std::vector<RunningJob> jobs;
    for (const std::string& name : names_in("/proc")) {
        const int pid = number_of(name);
        if (pid == 0 || pid == getpid()) continue;
        try {
            RunningJob job(pid);
            // A launched PE has the launcher's descriptor until it signs in, and so have children of PEs.
            if (is_launcher(pid) || is_pe_of(job.board(), pid)) jobs.push_back(std::move(job));
        } catch (const UsageError&) {  // any other process
        }
    }
    return jobs;
}

RunningJob RunningJob::of(const std::string& number) {
    const int pid = number_of(number);
    if (pid == 0) throw UsageError("\"" + number + "\" is no process number; `atoll ps` lists the jobs");
    for (RunningJob& job : all()) {
        if (job.pid() == pid || is_pe_of(job.board(), pid)) return std::move(job);
    }
    return RunningJob(pid);
}

RunningJob RunningJob::only(const char* usage) {
    std::vector<RunningJob> jobs = all();
    if (jobs.size() == 1) return std::move(jobs.front());
    if (jobs.empty()) throw UsageError("no job of yours runs on this host; usage: " + std::string(usage));
    std::string numbers;
    for (const RunningJob& job : jobs) numbers += (numbers.empty() ? "" : ", ") + std::to_string(job.pid());
    throw UsageError("several jobs of yours run on this host: " + numbers + "; usage: " + usage +
                     ", and `atoll ps` shows their programs");
}

namespace {

/// The command of a process, without the folders of its first word: "python3 solver.py --steps 5". Empty if
/// it cannot be read.
std::string command_of(int pid) {
    constexpr std::size_t most = 100;
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
    std::string word, command;
    for (bool is_first = true; std::getline(file, word, '\0') && command.size() < most; is_first = false)
        command += is_first ? std::string(common::file_name(word)) : " " + word;
    for (char& c : command)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return command.size() > most ? command.substr(0, most) + "…" : command;
}

}  // namespace

std::string RunningJob::program() const {
    std::string command;
    for (int pe = 0; pe < board_.n_pes() && command.empty(); ++pe)
        if (const int pid = board_.entry(pe).pid.load(); pid > 0) command = command_of(pid);
    return command;
}

int ps_command(const std::vector<std::string>& arguments) {
    if (!arguments.empty()) throw UsageError("usage: atoll ps");
    const std::vector<RunningJob> jobs = RunningJob::all();
    if (jobs.empty()) std::puts("no job of yours runs on this host");
    for (const RunningJob& job : jobs) {
        const std::string program = job.program();
        const std::vector<common::PeDoing> doing = job.board().all_doing(false);
        const auto waiting =
            std::count_if(doing.begin(), doing.end(), [](const auto& one) { return one.waits; });
        std::printf("job %d: %d PE%s, %d waiting%s\n", job.pid(), job.board().n_pes(),
                    job.board().n_pes() == 1 ? "" : "s", static_cast<int>(waiting),
                    (program.empty() ? program : ": " + program).c_str());
    }
    return 0;
}

namespace {

/// The job that a command names, or the only one.
RunningJob job_of(const std::vector<std::string>& arguments, const char* usage) {
    return arguments.empty() ? RunningJob::only(usage) : RunningJob::of(only_argument(arguments, usage));
}

}  // namespace

namespace {

/// Reports on a job without a launcher of ours, one of whose PEs has started this program. Prints nothing if
/// no PE waits by now: only pending operations may have looked like waits.
int report_on(const std::string& heading, const RunningJob& job) {
    close_descriptors(STDERR_FILENO + 1);  // the PE's pipes, whose readers wait for their end
    const std::vector<common::PeDoing> doing = doing_with_sites(job.board());
    if (std::none_of(doing.begin(), doing.end(), [](const auto& one) { return one.waits; })) return 0;
    common::say(report_with_stacks(job.board(), doing, heading, "atoll: "));
    return 0;
}

}  // namespace

int stacks_command(const std::vector<std::string>& arguments) {
    constexpr const char* usage = "atoll stacks [JOB]";
    constexpr std::size_t of_report = 3;
    if (arguments.size() == of_report && arguments[0] == "--report")
        return report_on(arguments[1], RunningJob::at(arguments[2]));
    const RunningJob job = job_of(arguments, usage);
    std::printf("%s\n\n",
                core::report_of(doing_with_sites(job.board()), "what the PEs are doing", "").c_str());
    constexpr double patience_s = 2;
    std::vector<int> pes = bootstrap::all_pes(job.board().n_pes());
    std::erase_if(pes, [&](int pe) { return job.board().entry(pe).pid.load() == common::pid_elsewhere; });
    const std::vector<PeStacks> stacks = read_stacks(job.board(), pes, patience_s, StackDetail::all);
    for (std::size_t i = 0; i < pes.size(); ++i)
        std::printf("PE %d (process %d):\n%s", pes[i], job.board().entry(pes[i]).pid.load(),
                    stacks[i].text.c_str());
    return 0;
}

int record_command(const std::vector<std::string>& arguments) {
    constexpr const char* usage = "atoll record [JOB|FILE]";
    if (arguments.size() == 1 && number_of(arguments[0]) == 0 && access(arguments[0].c_str(), F_OK) == 0) {
        each_line(read_perfetto(arguments[0]), [](const std::string& line) { std::puts(line.c_str()); });
        check_stdout();
        return 0;
    }
    const RunningJob job = job_of(arguments, usage);
    for (int pe = 0; pe < job.board().n_pes(); ++pe)
        for (const common::EventCopy& event : common::read_events(job.board().events(pe)))
            std::puts(common::event_json(pe, event).c_str());
    check_stdout();
    return 0;
}

}  // namespace atl::cli
