// Text of steps: only ever text. Colours of a terminal become classes; what cannot be seen, or would
// turn the text around, is shown by its name.

import { h } from "./dom.js";

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const STYLES = { 1: "bold", 2: "faint", 3: "italic", 4: "underline" };
const ENDS = { 22: ["bold", "faint"], 23: ["italic"], 24: ["underline"] };
const ESCAPE = /\x1b(?:\[([0-9:;<=>?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/g;
const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;

export const plain = (text) => text.replace(HIDDEN, "");

/** Appends text to an element, and returns the colours that are on at its end. */
export function appendForeign(parent, text, state = { colour: "", styles: [] }, mark = null) {
	const clean = text.replaceAll("\r\n", "\n");
	let at = 0;
	for (const found of clean.matchAll(ESCAPE)) {
		appendRun(parent, clean.slice(at, found.index), state, mark);
		at = found.index + found[0].length;
		if (found[2] === "m") state = withCodes(state, found[1].split(/[;:]/).map(Number));
	}
	appendRun(parent, clean.slice(at), state, mark);
	return state;
}

function withCodes({ colour, styles }, codes) {
	for (let at = 0; at < codes.length; at += 1) {
		const code = codes[at];
		if (code === 0) [colour, styles] = ["", []];
		else if (STYLES[code]) styles = [...styles, STYLES[code]];
		else if (ENDS[code]) styles = styles.filter((style) => !ENDS[code].includes(style));
		else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) colour = COLOURS[code % 10];
		else if (code === 39) colour = "";
		else if (code === 38 || code === 48) {
			// Of 256 colours the first sixteen have names.
			if (code === 38) colour = codes[at + 1] === 5 && codes[at + 2] < 16 ? COLOURS[codes[at + 2] % 8] : "";
			at += codes[at + 1] === 5 ? 2 : 4;
		}
	}
	return { colour, styles };
}

function appendRun(parent, text, { colour, styles }, mark) {
	if (text === "") return;
	const classes = [colour, ...styles].filter(Boolean).map((name) => `ansi-${name}`);
	const target = classes.length > 0 ? h("span", { class: classes.join(" ") }) : parent;
	if (target !== parent) parent.append(target);
	let at = 0;
	for (const found of text.matchAll(HIDDEN)) {
		appendMarked(target, text.slice(at, found.index), mark);
		target.append(h("span.hidden-character", nameOf(found[0].codePointAt(0))));
		at = found.index + found[0].length;
	}
	appendMarked(target, text.slice(at), mark);
}

function nameOf(code) {
	if (code < 0x20) return String.fromCodePoint(0x2400 + code);
	return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function appendMarked(parent, text, mark) {
	const lower = mark && text.toLowerCase();
	let at = 0;
	for (let found = mark ? lower.indexOf(mark) : -1; found >= 0; found = lower.indexOf(mark, at)) {
		if (found > at) parent.append(text.slice(at, found));
		at = found + mark.length;
		parent.append(h("mark", text.slice(found, at)));
	}
	if (at < text.length) parent.append(text.slice(at));
}

export function foreign(name, text) {
	const node = h(name);
	appendForeign(node, text ?? "");
	return node;
}
