#include "cli/output/pe_terminal.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

namespace atl::cli {

PeTerminal open_pe_terminal(int like) {
    PeTerminal made;
    made.launcher_end = common::Fd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    const int master = made.launcher_end.get();
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return {};
    made.pe_end = common::Fd(ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!made.pe_end) return {};
    termios settings{};
    if (tcgetattr(like, &settings) == 0) {
        settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // the launcher's terminal does that
        settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        tcsetattr(made.pe_end.get(), TCSANOW, &settings);
    }
    winsize size{};
    if (ioctl(like, TIOCGWINSZ, &size) == 0) ioctl(master, TIOCSWINSZ, &size);
    return made;
}

}  // namespace atl::cli
