// The recipe as the server draws it, with the status of each step set here. A recipe that a step calls
// opens beside its step.

import { h, svg } from "./dom.js";
import { shape, statusKind, statusWord } from "./words.js";
import { stepAddress } from "./step.js";

const GAP = 56;
const MARGIN = 16;
const LETTER = 6.4;

/** The image of the server as elements, with the style of the page. */
export function parseChart(text) {
	const source = text.replace(/<style>[\s\S]*?<\/style>/g, "");
	const image = document.importNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement, true);
	image.querySelector(".title")?.remove();
	for (const node of image.querySelectorAll(".ground, .about, .note")) node.remove();
	return image;
}

/** As large as what is in it; in a narrow column a little smaller. */
export function fit(image) {
	const { x, y, width, height } = image.getBBox();
	image.setAttribute("viewBox", [x - MARGIN, y - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN].join(" "));
	image.style.minWidth = `${0.75 * width}px`;
	image.setAttribute("width", width + 2 * MARGIN);
	image.setAttribute("height", height + 2 * MARGIN);
}

function byStep(steps, found = new Map()) {
	for (const step of steps) {
		const name = step.path.replace(/#\d+/g, "");
		found.set(name, { ...step, visits: (found.get(name)?.visits ?? 0) + 1 });
		byStep(step.children ?? [], found);
	}
	return found;
}

const URGENT = ["failed", "asking", "running", "waiting", "interrupted"];

/** <run-graph>: `show` is given the image and the run whenever it changed. */
class RunGraph extends HTMLElement {
	#chart = null;
	#parts = [];
	#steps = new Map();
	#run = null;
	#open = new Map();
	#opened = null;

	show(chart, run) {
		if (this.#chart !== chart) {
			this.#chart = chart;
			this.#parts = [...parseChart(chart).querySelectorAll("g[data-part]")];
			this.#opened = null;
		}
		this.#run = run;
		this.#steps = byStep(run.steps);
		this.#layOut();
	}

	/** Laid out again when something opens or closes. */
	#layOut() {
		const opened = [...this.#steps.keys()].filter((path) => this.#isOpen(path)).join();
		if (this.#opened !== opened) {
			this.#opened = opened;
			const image = svg("svg", { role: "group", "aria-label": `Steps of ${this.#run.recipe_name}` });
			this.replaceChildren(image);
			this.#put(image, 0, "", 0, 0);
		}
		for (const card of this.querySelectorAll("a[data-path]")) this.#mark(card);
		fit(this.firstChild);
	}

	#isOpen(path) {
		const step = this.#steps.get(path);
		return this.#open.get(path) ?? (step?.children?.length > 0 && URGENT.includes(step.status));
	}

	/** Puts a recipe, and those open at its right; returns where they end. */
	#put(image, number, prefix, x, y) {
		const part = this.#parts[number].cloneNode(true);
		part.setAttribute("transform", `translate(${x} ${y})`);
		image.append(part);
		const box = part.getBBox();
		const column = x + box.x + box.width + GAP;
		let [bottom, free] = [y + box.y + box.height, y];
		for (const group of part.querySelectorAll("g[data-step], g[data-steps]")) {
			const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => Number(group.querySelector("rect").getAttribute(name)));
			const path = prefix + (group.dataset.step ?? "");
			const card = svg("a.card-link", { "data-path": path, "data-folded": group.dataset.steps },
				svg("rect.cover", { x: left, y: top, width, height, rx: 8 }), svg("g.badge", { transform: `translate(${left + width - 8} ${top + height + 2})` }));
			part.append(card);
			if (!group.dataset.calls || !this.#steps.get(path)?.children?.length) continue;
			part.append(this.#opener(path, left + width + 13, top + height / 2));
			if (!this.#isOpen(path)) continue;
			const start = Math.max(free, y + top);
			free = this.#put(image, Number(group.dataset.calls), `${path}/`, column, start) + MARGIN;
			image.prepend(svg("path.call", { d: `M${x + left + width + 25} ${y + top + height / 2}H${column - 20}V${start + 12}H${column - 6}` }));
			bottom = Math.max(bottom, free);
		}
		return bottom;
	}

	#opener(path, x, y) {
		const open = this.#isOpen(path);
		const onclick = () => {
			this.#open.set(path, !open);
			this.#layOut();
			this.querySelector(`[data-opens="${CSS.escape(path)}"]`)?.focus();
		};
		const onkeydown = (event) => {
			if (event.key !== "Enter" && event.key !== " ") return;
			event.preventDefault();
			onclick();
		};
		return svg("g.opener", {
			role: "button", tabindex: 0, "data-opens": path, "aria-expanded": String(open), "aria-label": `The recipe that ${path} calls`,
			transform: `translate(${x} ${y})`, onclick, onkeydown,
		}, svg("circle", { r: 12 }), svg("path", { d: open ? "M-5 0H5" : "M-5 0H5M0-5V5" }));
	}

	#mark(card) {
		const { folded, path } = card.dataset;
		const { label, status, text, href } = folded ? this.#folded(JSON.parse(folded), path) : this.#single(path);
		card.setAttribute("class", `card-link ${statusKind(status)}`);
		card.setAttribute("href", href);
		card.setAttribute("aria-label", label);
		const badge = card.querySelector(".badge");
		if (badge.dataset.text === text) return;
		badge.dataset.text = text;
		const icon = shape(status);
		for (const [name, value] of Object.entries({ x: -16, y: -6, width: 11, height: 11 })) icon.setAttribute(name, value);
		const width = text.length * LETTER + 26;
		badge.replaceChildren(svg("rect", { x: -width, y: -9, width, height: 17, rx: 8 }), svg("text", { "text-anchor": "end", x: -20, y: 3.5 }, text), icon);
	}

	#single(path) {
		const step = this.#steps.get(path);
		const status = statusWord(step?.status ?? "pending");
		const text = status + (step?.visits > 1 ? ` ×${step.visits}` : "");
		return { status, text, label: `${path}: ${text}`, href: step ? stepAddress(this.#run.run_id, step.path) : "#steps" };
	}

	/** How many have each status; the most urgent one is that of all. */
	#folded(ids, prefix) {
		const counts = new Map();
		for (const id of ids) {
			const word = statusWord(this.#steps.get(prefix + id)?.status ?? "pending");
			counts.set(word, (counts.get(word) ?? 0) + 1);
		}
		const text = [...counts].map(([word, number]) => `${number} ${word}`).join(" · ");
		const status = URGENT.find((word) => counts.has(word)) ?? [...counts.keys()][0];
		return { status, text, label: `${ids.length} steps: ${text}`, href: "#steps" };
	}
}

customElements.define("run-graph", RunGraph);

export const runGraph = (run) => h("run-graph", { "data-own": true, "data-key": `graph-${run.run_id}`, tabindex: "0", role: "region", "aria-label": "Graph" });
