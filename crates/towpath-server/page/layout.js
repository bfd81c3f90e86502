// What several screens are made of.

import { h } from "./dom.js";

export const section = (id, title, ...children) => h("section", { "aria-labelledby": id, "data-key": id, class: id }, h("h2", { id }, title), children);

export function facts(pairs) {
	const shown = pairs.filter(([, value]) => value);
	return h("dl.facts", shown.map(([name, value]) => h("div", { "data-key": name }, h("dt", name), h("dd", value))));
}

// Rows are `[key, cell, …]`; with one cell, the title of those below. The heading of a column begins with `*` if its cells name the row, with `#`
// for numbers, with `~` for long text.
export function table(heads, rows, kind = "cards") {
	const words = heads.map((head) => head.replace(/^[*#~]/, ""));
	const cell = (content, at) => {
		const own = { "data-label": words[at], class: { "#": "number", "~": "about" }[heads[at][0]] };
		return heads[at][0] === "*" ? h("th", { scope: "row" }, content) : h("td", own, content);
	};
	const row = ([key, ...cells]) => h("tr", { "data-key": key }, cells.length > 1 ? cells.map(cell) : h("th.part", { colspan: heads.length }, cells));
	return h("div.scroll", h("table", { class: kind },
		h("thead", h("tr", words.map((word) => h("th", { scope: "col" }, word)))),
		h("tbody", rows.map(row))));
}

/** A link that j and k reach. */
export const entry = (href, ...children) => h("a", { href, "data-entry": true }, children);

export const crumbs = (...links) => h("p.crumbs", links.map(([href, text], at) => [at > 0 && " / ", h("a", { href }, text)]));

/** Whether the browser has copied it. Without TLS it has only an older way, which needs the text selected. */
async function copied(text, node) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		getSelection().selectAllChildren(node);
		return document.execCommand("copy");
	}
}

export function command(text) {
	const copy = async ({ currentTarget: button }) => {
		button.textContent = (await copied(text, button.previousSibling)) ? "Copied" : "Selected: copy it";
		setTimeout(() => (button.textContent = "Copy"), 3000);
	};
	return h("span.command", h("code", text), h("button.quiet", { type: "button", "aria-label": `Copy ${text}`, onclick: copy }, "Copy"));
}

let typing;

/** What filters a list is part of the address. */
export function keepInAddress(page) {
	return ({ target, type }) => {
		const query = new URLSearchParams(location.search);
		query.delete("each");
		if (target.value) query.set(target.name, target.value);
		else query.delete(target.name);
		clearTimeout(typing);
		typing = setTimeout(() => page.navigate(`${location.pathname}?${query}`.replace(/\?$/, ""), true), type === "input" ? 150 : 0);
	};
}

export const field = (label, input) => h("label", h("span", label), input);
