// Tables that sort by a column, and bars.

/** `columns`: [title, how to write a value, is it text]. A click on a title sorts by it. */
function table(columns, rows) {
    const body = element("tbody");
    let sorted = -1, falling = true;
    const fill = () => body.replaceChildren(...rows.map((row) => element("tr", {}, ...columns.map(([, text, isText], at) =>
        element("td", isText ? { class: "text" } : {}, text ? text(row[at], row) : String(row[at]))))));
    const sort = (at) => {
        falling = sorted === at ? !falling : !columns[at][2];
        sorted = at;
        const order = (a, b) => (columns[at][2] ? String(a[at]).localeCompare(String(b[at])) : a[at] - b[at]);
        rows = [...rows].sort((a, b) => (falling ? order(b, a) : order(a, b)));
        heads.forEach((head, other) => other === at ? head.setAttribute("aria-sort", falling ? "descending" : "ascending")
            : head.removeAttribute("aria-sort"));
        fill();
    };
    const heads = columns.map(([title, , isText], at) => element("th", isText ? { class: "text" } : {},
        element("button", { type: "button", onclick: () => sort(at) }, title)));
    fill();
    return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
}

/** Bars in parts. `rows`: [name, parts of [class, share], text behind the bar]. */
function bars(rows) {
    return element("div", { class: "bars" }, ...rows.flatMap(([name, parts, text]) => [
        element("span", {}, name),
        element("div", { class: "bar" }, ...parts.map(([kind, share]) =>
            element("span", { class: kind, style: `width: ${(100 * share).toFixed(2)}%` }))),
        element("span", { class: "quiet" }, text)]));
}
