// Builds the page from its data. Times are in ns. The lists of src/cli/trace/page/page_data.cpp have these columns:
//     operations         name, calls, bytes, s, longest s, waiting s, least s, its PE, most s, its PE
//     times              all, moving, waiting: of a row
//     traffic            row of the caller, row of the memory, bytes, calls
//     keptInCollectives  row of the late PE, row that waited, ns, times
//     keptBySignals      the same
//     late               PE, times, ns
//     origins            PE, ns
//     sites              source line, operation, calls, bytes, ns, longest, waiting
//     ranges             name, ns, least, its PE, most, its PE
// kernels and kernelRanges have the columns of operations and ranges, for calls inside kernels.

const data = JSON.parse(document.getElementById("data").textContent);

/** "PE 3", or "PEs 8 to 15" where a row has several. A short name has the first number only. */
function rowName(row, isShort) {
    const first = row * data.width, last = Math.min(first + data.width, data.pes) - 1;
    if (isShort) return String(first);
    return first >= last ? `PE ${first}` : `PEs ${first} to ${last}`;
}

/** Sums of cells [row, column, a, b] by `at` (0 or 1), the largest `a` first. */
function sumsBy(cells, at) {
    const sums = new Map();
    for (const [row, column, value] of cells) {
        const key = at === 0 ? row : column;
        sums.set(key, (sums.get(key) || 0) + value);
    }
    return [...sums].sort((a, b) => b[1] - a[1]);
}

/** Adds lists of cells. */
function joined(...lists) {
    const cells = new Map();
    for (const [row, column, value, other] of lists.flat()) {
        const cell = cells.get(row * data.rows + column) || [row, column, 0, 0];
        cells.set(row * data.rows + column, [row, column, cell[2] + value, cell[3] + other]);
    }
    return [...cells.values()];
}

function findings() {
    const found = [];
    const [all, moving, waiting] = data.times.reduce((sum, row) => sum.map((value, at) => value + row[at]), [0, 0, 0]);
    if (all > 0)
        found.push(`All PEs together: ${percentText(Math.max(0, 1 - (moving + waiting) / all))} of the time in own code, ` +
            `${percentText(waiting / all)} waiting, ${percentText(moving / all)} moving data.`);
    const [origin] = data.origins;
    if (origin && origin[1] > waiting * 0.05) {
        const [direct] = sumsBy(joined(data.keptInCollectives, data.keptBySignals), 0);
        const last = data.late.find(([pe]) => pe === origin[0]);
        let how = ".";
        if (data.width === 1 && direct[0] !== origin[0])
            how = `, mostly through ${rowName(direct[0])}, which waited for it.`;
        else if (last)
            how = `. It was the last in ${countText(last[1])} of ${countText(data.meetings)} collectives.`;
        found.push(`PE ${origin[0]} kept others waiting most: ${timeText(origin[1])}, all together${how}`);
    }
    const bytes = data.traffic.reduce((sum, cell) => sum + cell[2], 0), [target] = sumsBy(data.traffic, 1);
    const times = target ? target[1] / (bytes / data.rows) : 0;
    if (times > 1.5 && bytes > 65536)
        found.push(`The memory of ${rowName(target[0])} is a hot spot: ${bytesText(target[1])} moved there or from ` +
            `there, ${times.toFixed(1)} times the mean.`);
    const heaviest = data.sites.filter(([, name]) => name !== "init" && name !== "finalize").sort((a, b) => b[6] - a[6])[0];
    if (heaviest && heaviest[6] > 0)
        found.push(`Apart from init and finalize, the most waiting is in ${heaviest[1]} at ${heaviest[0]}: ${timeText(heaviest[6])}.`);
    return found;
}

function header() {
    const size = `${countText(data.pes)} PE${data.pes === 1 ? "" : "s"}, ${countText(data.events)} events in ${timeText(data.length)}`;
    return [element("h1", {}, data.title), element("div", { class: "quiet" }, size),
        data.dropped ? element("p", { class: "warning" }, `${countText(data.dropped)} later events are missing: a log was ` +
            "full. A larger ATOLL_TRACE_EVENTS keeps them.") : null,
        element("ul", { class: "findings" }, ...findings().map((text) => element("li", {}, text)))];
}

function timesOfPes() {
    const rows = data.times.map(([all, moving, waiting], row) => {
        const share = (ns) => (all > 0 ? ns / all : 0), own = Math.max(0, 1 - share(moving) - share(waiting));
        return [rowName(row), [["own", own], ["moving", share(moving)], ["waiting", share(waiting)]],
            `${percentText(own)} / ${percentText(share(moving))} / ${percentText(share(waiting))}`];
    });
    const about = "The first thread of each PE. A PE with much own code and little waiting is the one that the others wait for.";
    if (rows.length <= 16) return section("Time of each PE", about, legend(states), bars(rows));
    const place = element("div"), byWaiting = [...rows].sort((a, b) => a[1][2][1] - b[1][2][1]);
    const order = choice(["least waiting first", "by number"], (at) => place.replaceChildren(bars([byWaiting, rows][at])));
    order.press(0);
    return section("Time of each PE", `${about} The list of ${countText(rows.length)} rows scrolls.`, order.element, legend(states), place);
}

function traffic(starts) {
    const tipOf = (bytes, calls, row, column) =>
        `${rowName(row)} with the memory of ${rowName(column)}\n${calls ? `${bytesText(bytes)} in ${countText(calls)} calls` : "no calls"}`;
    const made = matrix(["calls of PE", "memory of PE"], [
        { name: "bytes", cells: data.traffic, text: bytesText, tip: (row, column, [bytes, calls]) => tipOf(bytes, calls, row, column) },
        { name: "messages", cells: data.traffic.map(([row, column, bytes, calls]) => [row, column, calls, bytes]), text: countText,
            tip: (row, column, [calls, bytes]) => tipOf(bytes, calls, row, column) },
    ], data.rows, rowName);
    starts.push(made.start);
    return section("Traffic between PEs", "One-sided calls: puts, gets, atomics, signals and messages. A column of strong " +
        "colour is a PE whose memory many access.", made.element);
}

function lateArrivals(starts) {
    const view = (name, cells) => ({ name, cells, text: timeText, tip: (row, column, [ns, times]) =>
        `${rowName(column)} waited for ${rowName(row)}\n${times ? `${timeText(ns)} in ${countText(times)} calls` : "in no call"}` });
    const made = matrix(["late PE", "PE that waited"], [
        view("all", joined(data.keptInCollectives, data.keptBySignals)),
        view("collectives", data.keptInCollectives), view("signals and messages", data.keptBySignals),
    ], data.rows, rowName);
    starts.push(made.start);
    return section("Who kept whom waiting", "Time from the begin of a wait until the last PE called the collective, or " +
        "the sender its put or signal. A row of strong colour is a slow PE.", made.element);
}

function operations(of, title, about) {
    if (of.length === 0) return null;
    const seconds = (value) => timeText(value * 1e9);
    const rows = of.map(([name, calls, bytes, all, longest, waiting, least, leastPe, most, mostPe]) =>
        [name, calls, bytes, all, all / calls, longest, all > 0 ? Math.min(1, waiting / all) : 0,
            `${seconds(least)} (PE ${leastPe})`, `${seconds(most)} (PE ${mostPe})`]);
    return section(title, about, table([["operation", null, true], ["calls", countText],
        ["bytes", (bytes) => (bytes ? bytesText(bytes) : "")], ["total", seconds], ["mean", seconds], ["max", seconds],
        ["waiting", percentText], ["least time", null, true], ["most time", null, true]], rows));
}

function callSites() {
    const rows = data.sites.map(([place, operation, calls, bytes, ns, longest, waiting]) =>
        [place, operation, calls, bytes, ns, longest, waiting]);
    return section("Call sites", "Lines of the program, by their time of all PEs. Calls of less than 5 us have no line.",
        table([["line", null, true], ["operation", null, true], ["calls", countText],
            ["bytes", (bytes) => (bytes ? bytesText(bytes) : "")], ["total", timeText], ["longest", timeText],
            ["waiting", timeText]], rows));
}

function ranges(of, title, about) {
    if (of.length === 0) return null;
    const rows = of.map(([name, sum, least, leastPe, most, mostPe]) =>
        [name, sum, `${timeText(least)} (PE ${leastPe})`, `${timeText(most)} (PE ${mostPe})`]);
    return section(title, about,
        table([["range", null, true], ["all PEs", timeText], ["least time", null, true], ["most time", null, true]], rows));
}

function build() {
    const starts = [], line = timeLine();
    starts.push(line.start);
    document.title = `${data.title}: Atoll report`;
    document.getElementById("page").replaceChildren(...[...header(), comparison(), timesOfPes(), line.element,
        element("div", { class: "pair" }, traffic(starts), lateArrivals(starts)),
        operations(data.operations, "Operations", "Of all PEs. Click a title to sort."), callSites(),
        ranges(data.ranges, "Ranges of the program", "Parts that the program names with atoll.trace."),
        operations(data.kernels, "Inside kernels", "Of all PEs and all blocks together, whose times overlap."),
        ranges(data.kernelRanges, "Ranges of kernels", "Parts that kernels name, of all blocks together."),
        messageSizes(), heapOverTime(starts),
    ].filter((part) => part !== null));
    for (const start of starts) start();
}

build();
