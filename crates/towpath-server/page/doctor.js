// The state of this machine, as `towpath doctor` finds it.

import { get } from "./api.js";
import { h } from "./dom.js";
import { foreign } from "./foreign_text.js";
import { command, section, table } from "./layout.js";
import { status } from "./words.js";

export const load = () => get("doctor");

export const title = ({ status: word }) => word === "ok" ? "Doctor" : `Doctor: ${word}`;

export const wants = () => false;

const NAMES = { places: "directories" };

export function draw({ status: word, findings }, route, page) {
	const groups = [...new Set(findings.map(({ group }) => group))];
	const urgent = findings.filter((finding) => finding.status !== "ok");
	return [
		h("div.head", h("h1", "Doctor"), status(word)),
		h("p.buttons", h("button", { type: "button", onclick: () => page.refresh(), "data-entry": true }, "Look again"), command("towpath doctor")),
		list("needs a look", urgent),
		groups.map((group) => list(NAMES[group] ?? group, findings.filter((finding) => finding.group === group && finding.status === "ok"))),
	];
}

function list(name, findings) {
	if (findings.length === 0) return null;
	const row = ({ group, name: subject, status: word, text, fix }) => [`${group} ${subject}`, status(word), subject, [foreign("span", text), fix && h("div", command(fix))]];
	return section(`doctor-${name.replaceAll(" ", "-")}`, name[0].toUpperCase() + name.slice(1), table(["Status", "*Subject", "~Finding"], findings.map(row), "cards doctor"));
}
