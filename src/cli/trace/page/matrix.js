// A matrix of PE x PE as a picture, with the largest cells as a list.

/** Mixes two colours of the form #rrggbb. */
function mixed(low, high, share) {
    const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
    const mix = (at) => Math.round(part(low, at) + (part(high, at) - part(low, at)) * share);
    return `rgb(${mix(1)}, ${mix(3)}, ${mix(5)})`;
}

/**
 * `views`: each has a name, cells of [row, column, value, other], how to write a value, and the tip of a cell.
 * `axes`: names of rows and columns. `rowName`: the name of a row or column.
 */
function matrix(axes, views, count, rowName) {
    let view = views[0], values = new Map(), most = 0;
    const place = element("figure"), list = element("div");
    const left = 34, top = 34;
    const cellOf = (width) => Math.max(2, Math.min(44, Math.floor((width - left - 2) / count)));
    const drawn = canvas(place, `${axes[0]} by ${axes[1]}`, (width) => top + count * cellOf(width) + 2, draw);

    function draw(context, width) {
        const colour = memoized(colours()), cell = cellOf(width), gap = cell > 6 ? 1 : 0;
        const step = rowStep(cell / 2);
        context.fillStyle = colour("quiet");
        context.textBaseline = "middle";
        context.textAlign = "left";
        context.fillText(`${axes[1]} →`, left, 8);
        context.save();
        context.translate(8, top);
        context.rotate(Math.PI / 2);
        context.fillText(`${axes[0]} →`, 0, 0);
        context.restore();
        for (let row = 0; row < count; row += step) {
            const middle = (row + 0.5) * cell;
            context.textAlign = "right";
            context.fillText(rowName(row, true), left - 4, top + middle);
            context.textAlign = "center";
            context.fillText(rowName(row, true), left + middle, top - 8);
        }
        context.fillStyle = colour("empty");
        context.fillRect(left, top, count * cell, count * cell);
        for (const [key, [value]] of values) {
            if (value === 0) continue;
            const share = Math.sqrt(value / most), row = Math.floor(key / count), column = key % count;
            context.fillStyle = mixed(colour("scale-low"), colour("scale-high"), share);
            context.fillRect(left + column * cell, top + row * cell, cell - gap, cell - gap);
            if (cell < 44) continue;
            context.fillStyle = colour(share > 0.5 ? "on-high" : "on-low");
            const [number, unit] = view.text(value).split(" ");
            context.fillText(number, left + (column + 0.5) * cell, top + (row + 0.5) * cell - (unit ? 6 : 0));
            if (unit) context.fillText(unit, left + (column + 0.5) * cell, top + (row + 0.5) * cell + 7);
        }
    }

    drawn.element.addEventListener("pointermove", (event) => {
        const cell = cellOf(place.clientWidth);
        const column = Math.floor((event.offsetX - left) / cell), row = Math.floor((event.offsetY - top) / cell);
        if (row < 0 || column < 0 || row >= count || column >= count) return tip.hide();
        tip.show(event, view.tip(row, column, values.get(row * count + column) || [0, 0]));
    });
    drawn.element.addEventListener("pointerleave", tip.hide);

    const ramp = element("span");
    function choose(index) {
        view = views[index];
        values = new Map(view.cells.map(([row, column, value, other]) => [row * count + column, [value, other]]));
        most = Math.max(0, ...view.cells.map((cell) => cell[2]));
        ramp.textContent = view.text(most);
        const largest = [...values].filter(([, [value]]) => value > 0).sort((a, b) => b[1][0] - a[1][0]).slice(0, 5);
        list.replaceChildren(...largest.map(([key, cell]) =>
            element("div", { class: "quiet" }, view.tip(Math.floor(key / count), key % count, cell).replace("\n", ": "))));
        drawn.redraw();
    }
    const buttons = choice(views.map((one) => one.name), choose);
    return { element: element("div", {}, views.length > 1 ? buttons.element : null, place,
        element("div", { class: "legend" }, element("span", {}, "0", element("i", { class: "ramp" }), ramp)), list),
        start: () => buttons.press(0) };
}
