// The histogram of message sizes, and the heap over time.

function messageSizes() {
    if (data.sizes.length === 0) return null;
    const place = element("div");
    const first = data.sizes[0][0], last = data.sizes[data.sizes.length - 1][0];
    const bySize = new Map(data.sizes.map(([size, calls, bytes]) => [size, [calls, bytes]]));
    const views = choice(["messages", "bytes"], (view) => {
        const most = Math.max(...data.sizes.map((row) => row[1 + view]));
        const rows = [];
        for (let size = first; size <= last; ++size) {
            const [calls, bytes] = bySize.get(size) || [0, 0];
            rows.push([`from ${bytesText(2 ** size)}`, [["moving", [calls, bytes][view] / most]],
                calls ? `${countText(calls)}, ${bytesText(bytes)}` : "0"]);
        }
        place.replaceChildren(bars(rows));
    });
    views.press(0);
    return section("Message sizes", "One-sided calls by their bytes: each bar holds sizes up to twice the one at its left. Many small " +
        "messages are slow; add_at, take or a put of a whole array may replace them.", views.element, place);
}

function heapOverTime(starts) {
    const { least, most, peak, pe } = data.heap;
    if (peak === 0) return null;
    const place = element("figure"), left = 60, top = 10, high = 140;
    const xOf = (step, width) => left + (step / (most.length - 1)) * (width - left - 4);
    const yOf = (bytes) => top + high * (1 - bytes / peak);
    const drawn = canvas(place, "bytes of the heap in use", () => top + high + 22, (context, width) => {
        const colour = colours();
        context.textBaseline = "middle";
        for (const share of [0, 0.5, 1]) {
            context.fillStyle = colour("grid");
            context.fillRect(left, yOf(share * peak), width - left - 4, 1);
            context.fillStyle = colour("quiet");
            context.textAlign = "right";
            context.fillText(bytesText(Math.round(share * peak)), left - 6, yOf(share * peak));
        }
        timeLabels(context, colour, [0, Math.max(1, data.length)], [left, width - left - 4, top + high + 12]);
        const line = (values) => values.forEach((bytes, step) => {
            if (step > 0) context.lineTo(xOf(step, width), yOf(values[step - 1]));
            context.lineTo(xOf(step, width), yOf(bytes));
        });
        context.fillStyle = context.strokeStyle = colour("moving");
        context.globalAlpha = 0.25;
        context.beginPath();
        line(most);
        [...least].reverse().forEach((bytes, back) => context.lineTo(xOf(most.length - 1 - back, width), yOf(bytes)));
        context.fill();
        context.globalAlpha = 1;
        context.lineWidth = 2;
        context.beginPath();
        line(most);
        context.stroke();
    });
    drawn.element.addEventListener("pointermove", (event) => {
        const share = (event.offsetX - left) / (place.clientWidth - left - 4), step = Math.round(share * (most.length - 1));
        if (step < 0 || step >= most.length) return tip.hide();
        tip.show(event, `${timeText(Math.round(share * data.length))}\n${bytesText(least[step])} to ${bytesText(most[step])}`);
    });
    drawn.element.addEventListener("pointerleave", tip.hide);
    starts.push(drawn.redraw);
    return section("Heap over time", `Bytes of the symmetric heap in use: the line is the PE with the most, the area reaches to the ` +
        `PE with the least. The peak is ${bytesText(peak)} (PE ${pe}).`, place);
}

/** Operations or call sites of this run beside those of `data.other`. `nameOf` and `nsOf` read a row of the list. */
function comparedRows(ours, others, names, callsAt, nsOf) {
    const rows = new Map();
    const add = (list, side) => list.forEach((row) => {
        const name = row.slice(0, names), key = JSON.stringify(name);
        if (!rows.has(key)) rows.set(key, { name, calls: [0, 0], ns: [0, 0] });
        rows.get(key).calls[side] += row[callsAt];
        rows.get(key).ns[side] += nsOf(row);
    });
    add(ours, 0);
    add(others, 1);
    return [...rows.values()].map(({ name, calls, ns }) => [...name, ...calls, ...ns, ns[1] - ns[0], ns[0] > 0 ? ns[1] / ns[0] : Infinity])
        .sort((a, b) => Math.abs(b[names + 4]) - Math.abs(a[names + 4]));
}

function comparison() {
    const other = data.other;
    if (!other) return null;
    const change = (ns) => `${ns < 0 ? "−" : "+"}${timeText(Math.round(Math.abs(ns)))}`;
    const ratio = (value) => (Number.isFinite(value) ? value.toFixed(2) : "");
    const time = (ns) => timeText(Math.round(ns));
    const columns = [["calls A", countText], ["calls B", countText], ["time A", time], ["time B", time], ["change", change], ["ratio", ratio]];
    return section("Comparison", `A is ${data.title} (${time(data.length)}), B is ${other.title} (${time(other.length)}). Everything else on ` +
        "this page is about A. The largest change comes first.",
        table([["operation", null, true], ...columns], comparedRows(data.operations, other.operations, 1, 1, (row) => row[3] * 1e9)),
        element("h2", {}, "Call sites"),
        table([["line", null, true], ["operation", null, true], ...columns], comparedRows(data.sites, other.sites, 2, 2, (row) => row[4])));
}
