// The time line: a row for each PE, with its time in own code, moving data and waiting. data.timeLine has:
//     steps   number of equal steps of time
//     shares  for each row and step the shares of waiting and of moving data, as digits to the base 64
//     calls   the longest calls of each row, with seven numbers each: ns since the previous call began, ns, ns of
//             waiting, number of the name, number of the source line, peer, bytes
//     names   texts of these numbers

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

function decodedShares(text) {
    const values = new Map([...digits].map((digit, value) => [digit, value / 63]));
    return Float32Array.from(text, (digit) => values.get(digit));
}

function decodedCalls(numbers, names) {
    const calls = [];
    for (let at = 0, begin = 0; at < numbers.length; at += 7) {
        begin += numbers[at];
        const [length, waiting, name, site, peer, bytes] = numbers.slice(at + 1, at + 7);
        calls.push({ begin, end: begin + length, waiting, name: names[name], site: names[site], peer, bytes });
    }
    return calls;
}

/** Round times between two times, about one each `space` of `width` pixels. */
function ticks(from, to, width, space) {
    const least = (to - from) / Math.max(1, width / space), power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= least);
    const times = [];
    for (let at = Math.ceil(from / step); at * step <= to; ++at) times.push(at * step);
    return times;
}

/** Writes round times below or above a picture, at [left, width, y]. Calls `mark` with the place of each. */
function timeLabels(context, colour, [from, to], [left, width, y], mark = () => {}) {
    const times = ticks(from, to, width, 90);
    for (const time of times) {
        const x = left + ((time - from) / (to - from)) * width;
        mark(x);
        context.fillStyle = colour("quiet");
        context.textAlign = x > left + width - 30 ? "right" : x < left + 20 ? "left" : "center";
        context.fillText(momentText(time, times.length > 1 ? times[1] - times[0] : to - from), x, y);
    }
}

function timeLine() {
    const { steps, shares, calls, names } = data.timeLine, length = Math.max(1, data.length);
    const rows = shares.map((text, row) => ({ shares: decodedShares(text), calls: decodedCalls(calls[row], names) }));
    const tall = rows.length <= 4 ? 34 : rows.length <= 16 ? 22 : rows.length <= 64 ? 11 : 6;
    const left = 46, top = 20, leastView = Math.min(length, 1000);
    const place = element("figure"), span = element("span", { class: "quiet" });
    let from = 0, to = length, selected = null;

    const drawn = canvas(place, "time line of the PEs", () => top + rows.length * tall + 2, draw);
    const plot = () => place.clientWidth - left - 2;
    const timeAt = (x) => from + ((x - left) / plot()) * (to - from);

    /** Mean shares of waiting and moving data between two times. */
    function meanShares(row, begin, end) {
        const first = Math.min(steps - 1, Math.max(0, Math.floor((begin / length) * steps)));
        const last = Math.min(steps - 1, Math.max(first, Math.ceil((end / length) * steps) - 1));
        let waiting = 0, moving = 0;
        for (let step = first; step <= last; ++step) {
            waiting += row.shares[2 * step];
            moving += row.shares[2 * step + 1];
        }
        return [waiting / (last - first + 1), moving / (last - first + 1)];
    }

    function drawRow(context, row, y, width, colour) {
        const high = tall - (tall > 8 ? 3 : 1), scale = width / (to - from);
        context.fillStyle = colour("own");
        context.fillRect(left, y, width, high);
        for (let x = 0; x < width; ++x) {
            const [waiting, moving] = meanShares(row, from + x / scale, from + (x + 1) / scale);
            context.fillStyle = colour("waiting");
            context.fillRect(left + x, y + high * (1 - waiting), 1, high * waiting);
            context.fillStyle = colour("moving");
            context.fillRect(left + x, y + high * (1 - waiting - moving), 1, high * moving);
        }
        for (const call of row.calls) {
            const wide = (call.end - call.begin) * scale;
            if (call.end < from || call.begin > to || wide < 3) continue;
            const x = Math.max(0, (call.begin - from) * scale), end = Math.min(width, (call.end - from) * scale);
            context.fillStyle = colour(call.waiting > (call.end - call.begin) / 2 ? "waiting" : "moving");
            context.fillRect(left + x, y, Math.max(1, end - x - 1), high);
            if (tall < 20 || end - x < context.measureText(call.name).width + 8) continue;
            context.fillStyle = "#fff";
            context.textAlign = "left";
            context.fillText(call.name, left + x + 4, y + high / 2);
        }
    }

    function draw(context) {
        const colour = memoized(colours()), width = plot();
        context.textBaseline = "middle";
        timeLabels(context, colour, [from, to], [left, width, 8], (x) => {
            context.fillStyle = colour("grid");
            context.fillRect(x, top - 4, 1, rows.length * tall + 4);
        });
        const step = rowStep(tall);
        rows.forEach((row, at) => {
            drawRow(context, row, top + at * tall, width, colour);
            if (at % step !== 0) return;
            context.fillStyle = colour("quiet");
            context.textAlign = "right";
            context.fillText(step === 1 && tall > 11 ? `PE ${rowName(at, true)}` : rowName(at, true), left - 6, top + (at + 0.5) * tall - 1);
        });
        if (!selected) return;
        context.globalAlpha = 0.3;
        context.fillStyle = colour("accent");
        context.fillRect(Math.min(...selected), top, Math.abs(selected[1] - selected[0]), rows.length * tall);
    }

    function show(begin, end) {
        const size = Math.min(length, Math.max(leastView, end - begin));
        from = Math.min(Math.max(0, (begin + end - size) / 2), length - size);
        to = from + size;
        span.textContent = size === length ? "all of the run" : `${momentText(from, size / 100)} to ${momentText(to, size / 100)} (${timeText(Math.round(size))})`;
        drawn.redraw();
    }
    const zoom = (factor, middle = (from + to) / 2) => show(middle - (middle - from) * factor, middle + (to - middle) * factor);
    const move = (share) => {
        const by = Math.max(-from, Math.min(length - to, share * (to - from)));
        show(from + by, to + by);
    };

    function tipText(x, y) {
        const at = Math.floor((y - top) / tall), time = timeAt(x);
        if (at < 0 || at >= rows.length || x < left || time > to) return "";
        const near = (2 * (to - from)) / plot();
        const call = rows[at].calls.findLast((one) => one.begin <= time + near && one.end >= time - near);
        const head = `${rowName(at)}, ${momentText(time, (to - from) / plot())}\n`;
        if (call && (call.end - call.begin) * plot() >= 3 * (to - from))
            return `${head}${call.name}${call.peer >= 0 ? ` with PE ${call.peer}` : ""}: ${timeText(call.end - call.begin)}, ` +
                `waiting ${timeText(call.waiting)}${call.bytes ? `, ${bytesText(call.bytes)}` : ""}${call.site ? `\n${call.site}` : ""}`;
        const [waiting, moving] = meanShares(rows[at], time, time + (to - from) / plot());
        return `${head}own code ${percentText(Math.max(0, 1 - waiting - moving))}, moving data ${percentText(moving)}, waiting ${percentText(waiting)}`;
    }

    const listen = (name, react) => drawn.element.addEventListener(name, react, { passive: false });
    listen("pointerdown", (event) => {
        if (event.button !== 0 || event.offsetX < left) return;
        selected = [event.offsetX, event.offsetX];
        drawn.element.setPointerCapture(event.pointerId);
    });
    listen("pointermove", (event) => {
        const text = tipText(event.offsetX, event.offsetY);
        if (text) tip.show(event, text);
        else tip.hide();
        if (!selected) return;
        selected[1] = Math.max(left, Math.min(left + plot(), event.offsetX));
        drawn.redraw();
    });
    listen("pointerup", () => {
        const [one, other] = selected || [0, 0];
        selected = null;
        if (Math.abs(one - other) > 4) show(timeAt(Math.min(one, other)), timeAt(Math.max(one, other)));
        else drawn.redraw();
    });
    listen("pointercancel", () => { selected = null; });
    listen("pointerleave", tip.hide);
    listen("dblclick", () => show(0, length));
    listen("wheel", (event) => {
        if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, timeAt(event.offsetX));
        else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((event.deltaX || event.deltaY) / 1000);
        else return;
        event.preventDefault();
    });
    const actions = [["+", "zoom in", () => zoom(0.5), "+"], ["−", "zoom out", () => zoom(2), "-"], ["←", "earlier", () => move(-0.25), "ArrowLeft"],
        ["→", "later", () => move(0.25), "ArrowRight"], ["all", "show all", () => show(0, length), "0"]];
    listen("keydown", (event) => {
        const found = actions.find(([, , , key]) => key === event.key);
        if (!found) return;
        found[2]();
        event.preventDefault();
    });
    drawn.element.tabIndex = 0;
    drawn.element.style.touchAction = "pan-y";
    const buttons = element("div", { class: "switch" }, ...actions.map(([text, title, act]) =>
        element("button", { type: "button", title, "aria-label": title, onclick: act }, text)));
    const exact = rows.reduce((sum, row) => sum + row.calls.length, 0);
    return { element: section("Time line", "Drag over a part to zoom in, double-click to see all. The wheel zooms with Ctrl and moves " +
        "with Shift; so do the keys + − ← → 0.", buttons, span, legend(states), place, element("div", { class: "quiet" },
        `${exact ? `The ${countText(exact)} longest calls are exact. ` : ""}All other calls are shares of steps of ${timeText(Math.round(length / steps))}.`)),
        start: () => show(0, length) };
}
