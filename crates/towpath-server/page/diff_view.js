// What was changed, as lines that came and went: of an edit, of a step, of a whole run.

import { get } from "./api.js";
import { h } from "./dom.js";
import { appendForeign, foreign } from "./foreign_text.js";

const MOST_LINES = 4000;
const KINDS = { "+": "added", "-": "removed", "@": "hunk" };

export function diffLines(text) {
	const lines = text.replace(/\n$/, "").split("\n");
	const node = h("pre.diff");
	let head = false;
	for (const line of lines.slice(0, MOST_LINES)) {
		// The names of the files are no lines of them.
		head = line.startsWith("diff --git") || (head && !line.startsWith("@@"));
		appendForeign(node.appendChild(h("span", { class: head ? "file" : KINDS[line[0]] })), `${line}\n`);
	}
	if (lines.length > MOST_LINES) node.append(`… and ${lines.length - MOST_LINES} more lines`);
	return node;
}

/** `+3 −1` */
export function changed(text) {
	const count = (sign) => text.split("\n").filter((line) => line[0] === sign && !line.startsWith(sign.repeat(3))).length;
	return `+${count("+")} −${count("-")}`;
}

/** <diff-view run step>: asked for when it is opened. */
class DiffView extends HTMLElement {
	connectedCallback() {
		const step = this.getAttribute("step");
		const shown = h("div");
		const details = h("details", h("summary", step ? "What it changed" : "What the agents changed"), shown);
		details.ontoggle = async () => {
			if (!details.open) return;
			try {
				const { known, diff, notes } = await get(`runs/${this.getAttribute("run")}/diff`, { step });
				shown.replaceChildren(notes ? foreign(known ? "p.faint" : "p", notes.replace(/^error: /, "")) : "", diff ? diffLines(diff) : "");
			} catch ({ message }) {
				shown.replaceChildren(h("p", message));
			}
		};
		this.replaceChildren(details);
	}
}

customElements.define("diff-view", DiffView);

export const diffView = (run, step) => h("diff-view", { "data-key": `diff-${step ?? ""}`, "data-own": true, run, step });
