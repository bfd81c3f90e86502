// Keys: j and k move through what a screen lists, g opens another screen, / finds, ? explains.

import { h } from "./dom.js";

const SETTING = "towpath-keys";
const SCREENS = { r: "/", q: "/questions", s: "/start", d: "/doctor" };
const KEYS = [
	["j", "next entry"],
	["k", "previous entry"],
	["Enter", "open the entry"],
	["/", "find or filter"],
	...["Runs", "Questions", "Start", "Doctor"].map((name) => [`g then ${name[0].toLowerCase()}`, name]),
	["?", "this list"],
	["Escape", "close, or leave a field"],
];

let awaited = false;

export function listenToKeys(page) {
	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
		const field = event.target.closest?.("input:not([type=checkbox]):not([type=range]), textarea, select");
		if (field) {
			if (event.key === "Escape") field.blur();
			return;
		}
		if (localStorage.getItem(SETTING) === "off") return;
		const screen = awaited && SCREENS[event.key];
		awaited = event.key === "g" && !awaited;
		if (screen) page.navigate(screen);
		else if (event.key === "j") move(1);
		else if (event.key === "k") move(-1);
		else if (event.key === "?") showHelp();
		else if (event.key === "/") document.querySelector("main input[type=search]")?.focus();
		else return;
		event.preventDefault();
	});
}

function move(by) {
	const entries = [...document.querySelectorAll("main [data-entry]")].filter((entry) => entry.getClientRects().length > 0);
	const at = entries.indexOf(document.activeElement);
	const next = at < 0 ? (by > 0 ? 0 : entries.length - 1) : Math.min(Math.max(at + by, 0), entries.length - 1);
	entries[next]?.focus();
	entries[next]?.scrollIntoView({ block: "nearest" });
}

export function showHelp() {
	const off = localStorage.getItem(SETTING) === "off";
	const toggle = ({ target }) => localStorage.setItem(SETTING, target.checked ? "on" : "off");
	const dialog = h("dialog", { "aria-labelledby": "help-title" },
		h("form", { method: "dialog" },
			h("h2", { id: "help-title" }, "Keyboard"),
			h("dl.keys", KEYS.map(([key, meaning]) => [
				h("dt", key.split(" then ").map((part, at) => [at ? " then " : "", h("kbd", part)])),
				h("dd", meaning),
			])),
			h("label.check", h("input", { type: "checkbox", checked: !off, onchange: toggle }), " Keys of one letter"),
			h("p.buttons", h("button", { value: "close" }, "Close"))));
	document.body.append(dialog);
	dialog.onclose = () => dialog.remove();
	dialog.showModal();
}
