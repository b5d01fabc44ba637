#include "collective/requests/shown_wait.hpp"

#include "common/elf/call_site.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace atl::requests {
void ShownWait::show() {
    if (!wait_.claim()) return;
    if (!std::exchange(is_placed_, true)) site_ = common::file_name(common::site_of_thread());
    const Membership& of = group_.members().membership();
    const Group::Progress progress = group_.progress_of(*request_);
    common::WaitCopy values;
    common::copy_text(progress.operation, values.operation);
    common::copy_text(progress.details, values.name);
    common::copy_text(of.label, values.group);
    common::copy_text(site_, values.site);
    values.team = common::team_number(of.label);
    values.found = progress.moved;  // not shown as a value: a change is progress
    values.since_ns = since_ns_;
    values.team_id = of.identity;
    values.call = progress.call;
    int n = 0;
    for (const int member : progress.missing)
        if (n < common::WaitRecord::most_missing) values.missing[n++] = of.pes[std::size_t(member)];
    if (n < common::WaitRecord::most_missing) values.missing[n] = -1;
    values.peer = values.missing[0];
    wait_.write(values);
}

}  // namespace atl::requests
