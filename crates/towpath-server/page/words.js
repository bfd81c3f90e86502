// Amounts, times and statuses as the page shows them.

import { h, svg } from "./dom.js";

/** 12×12 shapes: a status is never a colour alone. */
const SHAPES = {
	check: "M2 6.5 4.8 9.5 10 2.8",
	cross: "M2.5 2.5l7 7M9.5 2.5l-7 7",
	disc: "M6 2.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7Z",
	ring: "M6 2a4 4 0 1 1 0 8a4 4 0 1 1 0-8",
	clock: "M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9M6 3.5V6l2 1.5",
	question: "M3.5 4.2a2.5 2.5 0 1 1 3.6 2.3C6.3 6.9 6 7.3 6 8.2M6 10.2v.6",
	gap: "M4.5 2.2A4.2 4.2 0 0 0 4.5 9.8M7.5 2.2A4.2 4.2 0 0 1 7.5 9.8",
	dash: "M2.5 6h7",
	square: "M3 3h6v6H3Z",
};

/** The kind, which has a colour, the shape, and the words. */
const STATUSES = [
	["ok", "check", "done, completed, succeeded, recovered, ok"],
	["bad", "cross", "failed, timed-out, not-started, problem, broken"],
	["run", "disc", "running"],
	["ask", "question", "asking"],
	["wait", "clock", "waiting"],
	["wait", "gap", "interrupted"],
	["wait", "check", "degraded"],
	["wait", "question", "attention"],
	["idle", "square", "cancelled, stopped"],
	["idle", "dash", "skipped"],
	["idle", "ring", "pending, not reached"],
];
const known = new Map(STATUSES.flatMap(([kind, name, words]) => words.split(", ").map((word) => [word, [kind, name]])));

export const statusWord = (status) => (status ?? "").replaceAll("_", " ");

const kindAndShape = (status) => known.get(statusWord(status)) ?? ["idle", "ring"];

export const statusKind = (status) => kindAndShape(status)[0];

export function shape(status) {
	const [kind, name] = kindAndShape(status);
	const path = svg("path", { d: SHAPES[name], class: `shape-${name}` });
	return svg("svg", { class: `shape ${kind}`, viewBox: "0 0 12 12", "aria-hidden": "true" }, path);
}

export const status = (word) => h("span", { class: `status ${statusKind(word)}` }, shape(word), statusWord(word));

export function money(usd, complete = true) {
	if (usd === null || usd === undefined || (usd === 0 && !complete)) return "unknown";
	const text = `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
	return complete ? text : `${text} + unknown`;
}

export function seconds(value) {
	if (value === null || value === undefined) return "–";
	if (value < 0.1) return `${Math.round(value * 1000)} ms`;
	if (value < 10) return `${value.toFixed(1)} s`;
	const whole = Math.round(value);
	if (whole < 60) return `${whole} s`;
	const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
	if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
	if (hours > 0) return `${hours} h ${minutes} min`;
	return `${minutes} min ${whole % 60} s`;
}

export function bytes(count) {
	const units = ["bytes", "kB", "MB", "GB", "TB"];
	let at = 0;
	while (count >= 1000 && at < units.length - 1) [count, at] = [count / 1000, at + 1];
	return at === 0 ? `${count} bytes` : `${count.toFixed(1)} ${units[at]}`;
}

export const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

function clock(date) {
	const time = exactClock(date).slice(0, 5);
	const today = date.toDateString() === new Date().toDateString();
	const year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
	return today ? time : `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year })} ${time}`;
}

export const exactClock = (date) => date.toLocaleTimeString("en-GB");

/** A moment, such as `22:05`. */
export function time(text) {
	if (!text) return "–";
	const date = new Date(text);
	return h("time", { datetime: text, title: date.toString() }, clock(date));
}

/** How long something takes that is not over: counted every second by `tick`. */
export const since = (text) => h("span", { "data-since": text }, passed(text));

function passed(from) {
	const whole = Math.max(0, Math.floor((Date.now() - new Date(from)) / 1000));
	return whole < 60 ? `${whole} s` : seconds(whole);
}

export function tick() {
	for (const node of document.querySelectorAll("[data-since]")) {
		const text = passed(node.dataset.since);
		if (node.textContent !== text) node.textContent = text;
	}
}

export const directory = (path) => h("span.directory", { title: path }, path.split("/").filter(Boolean).pop() ?? "/");
