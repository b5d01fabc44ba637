#include "cli/output/terminal_input.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace atl::cli {
namespace {
constexpr Tag terminal_tag{Source::terminal, 0};
constexpr Tag pipe_tag{Source::terminal_pipe, 0};
}  // namespace

TerminalInput::TerminalInput(Poller& poller, common::Fd& reader) : poller_(poller) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    reader = common::Fd(ends[0]);
    pipe_ = common::Fd(ends[1]);
    fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
    poller_.add(pipe_.get(), pipe_tag, 0);  // errors are always reported: PE 0 closed its stdin
    resume();
}

void TerminalInput::resume() {
    if (pipe_ && !reading_ && pending_.empty()) reading_ = poller_.add(STDIN_FILENO, terminal_tag);
}

void TerminalInput::on_terminal() {
    if (!reading_) return;
    char buffer[4096];
    const ssize_t size = read(STDIN_FILENO, buffer, sizeof buffer);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    poller_.remove(STDIN_FILENO);
    reading_ = false;
    // In the background the terminal refuses with EIO (SIGTTIN is blocked). SIGCONT follows, see resume().
    if (size < 0) return;
    if (size == 0) return close();  // Ctrl-D
    pending_.assign(buffer, static_cast<std::size_t>(size));
    poller_.change(pipe_.get(), pipe_tag, EPOLLOUT);
}

void TerminalInput::on_pipe(std::uint32_t events) {
    if (!pipe_) return;
    if (events & EPOLLERR) return close();
    const ssize_t written = write(pipe_.get(), pending_.data(), pending_.size());
    if (written < 0 && errno != EAGAIN && errno != EINTR) return close();
    if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
    if (!pending_.empty()) return;
    poller_.change(pipe_.get(), pipe_tag, 0);
    resume();
}

void TerminalInput::close() {
    if (reading_) poller_.remove(STDIN_FILENO);
    reading_ = false;
    poller_.remove(pipe_.get());
    pipe_ = common::Fd();
}

}  // namespace atl::cli
