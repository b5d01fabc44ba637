// Helpers of all parts: elements, numbers as text, the tip at the pointer, canvases that follow size and theme.

/** An element. Children are elements or texts: a text of the trace can never become markup. */
function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
        else if (value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
}

function scaled(value, units, step) {
    let unit = 0;
    while (unit + 1 < units.length && value >= step) {
        value /= step;
        ++unit;
    }
    const digits = unit === 0 || Number.isInteger(value) ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
    return `${value.toFixed(digits)} ${units[unit]}`;
}
const timeText = (ns) => scaled(ns, ["ns", "us", "ms", "s"], 1000);
/** A moment with as many digits as tell it from another one `step` ns later. */
function momentText(ns, step) {
    const [unit, size] = [["s", 1e9], ["ms", 1e6], ["us", 1e3]].find(([, one]) => ns >= one) || ["ns", 1];
    return `${(ns / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9)))} ${unit}`;
}
const bytesText = (bytes) => scaled(bytes, ["bytes", "KiB", "MiB", "GiB", "TiB"], 1024);
const countText = (count) => count.toLocaleString("en");
const percentText = (share) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;

const tip = {
    show(event, text) {
        const box = document.getElementById("tip");
        box.textContent = text;
        box.hidden = false;
        const left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8);
        const below = event.clientY + 18;
        box.style.left = `${Math.max(8, left)}px`;
        box.style.top = `${below + box.offsetHeight < innerHeight ? below : event.clientY - box.offsetHeight - 10}px`;
    },
    hide() {
        document.getElementById("tip").hidden = true;
    },
};

/** Colours of the style sheet, as they are now in the light or the dark theme. */
function colours() {
    const style = getComputedStyle(document.documentElement);
    return (name) => style.getPropertyValue(`--${name}`).trim();
}

/** The same with each colour read once: a time line asks for them often. */
function memoized(read) {
    const known = new Map();
    return (name) => {
        if (!known.has(name)) known.set(name, read(name));
        return known.get(name);
    };
}

/** Rows from one label to the next, if a row has so many pixels. */
function rowStep(pixels) {
    let step = 1;
    while (step * pixels < 11) step *= 2;
    return step;
}

/** A canvas in `parent` that is drawn again when the width or the theme changes. `height` is a function of the width. */
function canvas(parent, label, height, draw) {
    const made = element("canvas", { role: "img", "aria-label": label });
    parent.append(made);
    let seen = 0;
    const redraw = () => {
        const width = Math.floor(parent.clientWidth);
        if (width === 0) return;
        seen = width;
        const tall = height(width), ratio = devicePixelRatio || 1;
        made.width = width * ratio;
        made.height = tall * ratio;
        made.style.width = `${width}px`;
        made.style.height = `${tall}px`;
        const context = made.getContext("2d");
        context.scale(ratio, ratio);
        context.font = "11px system-ui, sans-serif";
        draw(context, width, tall);
    };
    new ResizeObserver(() => Math.floor(parent.clientWidth) !== seen && redraw()).observe(parent);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    return { element: made, redraw };
}

/** Buttons of which one is pressed. `choose` gets its index, at once that of the first. */
function choice(names, choose) {
    const buttons = names.map((name, index) => element("button", { type: "button", onclick: () => press(index) }, name));
    const press = (index) => {
        buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === index));
        choose(index);
    };
    return { element: element("div", { class: "switch" }, ...buttons), press };
}

function section(title, explanation, ...content) {
    return element("section", {}, element("h2", {}, title), element("p", { class: "quiet" }, explanation), ...content);
}

/** Explains colours: pairs of a class of the style sheet and a text. */
function legend(entries) {
    return element("div", { class: "legend" },
        ...entries.map(([name, text]) => element("span", {}, element("i", { class: name }), text)));
}
const states = [["own", "own code"], ["moving", "moving data"], ["waiting", "waiting"]];
