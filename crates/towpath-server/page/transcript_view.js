// What an agent does, as `towpath logs` prints it: its messages, tool uses and edits. What its program
// printed is behind a switch.

import { get } from "./api.js";
import { changed, diffLines } from "./diff_view.js";
import { h } from "./dom.js";
import { appendForeign, foreign } from "./foreign_text.js";
import { logView } from "./log_view.js";
import { markdown } from "./markdown.js";
import { count } from "./words.js";

const PAUSE = 300;
const SHORT_DIFF = 16;
const ERROR = /(?<![\w])(?<!\b0 )(?:error|exception|failed|fatal|panicked|traceback)(?!\w)|\w(?:Error|Exception)(?!\w)/gi;
const ICONS = [[/bash|shell|command|exec/i, "$"], [/edit|write|replace|patch|create/i, "±"], [/read|view|cat|ls|list/i, "≡"], [/grep|search|glob|find|fetch/i, "⌕"]];

/** <transcript-view run job output live> */
class TranscriptView extends HTMLElement {
	static observedAttributes = ["live"];
	#count = 0;
	#growth = null;
	#busy = Promise.resolve();
	#found = [];
	#at = -1;
	#window = null;
	#listen = ({ detail: { kind, run, output } }) => {
		if (kind === "reset" || (kind === "output" && run === this.run && output === this.output)) this.#grow();
	};

	connectedCallback() {
		if (!this.#window) this.#build();
		document.addEventListener("towpath", this.#listen);
		this.#grow(0);
	}

	disconnectedCallback() {
		document.removeEventListener("towpath", this.#listen);
		clearTimeout(this.#growth);
	}

	attributeChangedCallback(_, before) {
		if (before === "true") this.#grow();
	}

	#build() {
		for (const name of ["run", "job", "output"]) this[name] = this.getAttribute(name);
		const live = this.getAttribute("live") === "true";
		const button = (text, onclick, name) => h("button.quiet", { type: "button", onclick, "aria-label": name }, text);
		const search = h("input", { type: "search", "aria-label": "Find in what the agent did", placeholder: "Find" });
		const onsubmit = (event) => {
			event.preventDefault();
			const text = search.value.toLowerCase();
			this.#find(text && `find ${text}`, (own) => positions(own.toLowerCase(), text));
		};
		this.#window = h(live ? "div.log.transcript.steady" : "div.log.transcript", { role: "log", "aria-live": "off", "aria-label": "Agent", tabindex: "0" });
		this.found = h("span.found", { role: "status" });
		this.position = h("span.position");
		this.follow = h("input", { type: "checkbox", role: "switch", checked: live });
		const raw = h("input", { type: "checkbox", role: "switch", onchange: () => this.#raw(raw.checked) });
		this.tools = h("span.tools", h("label", { hidden: !live }, this.follow, " Follow"),
			h("form.find", { onsubmit }, search, this.found, button("↑", () => this.#jump(-1), "Previous match"), h("button.quiet", { "aria-label": "Next match" }, "↓")),
			button("First error", () => this.#find("errors", (own) => Array.from(own.matchAll(ERROR), ({ index, 0: word }) => [index, word.length]))));
		this.append(h("div.log-bar", h("h2", "Agent"), this.position, this.tools, h("label", raw, " Raw")), this.#window);
		this.#window.onwheel = ({ deltaY }) => deltaY < 0 && (this.follow.checked = false);
	}

	#raw(shown) {
		this.#window.hidden = this.tools.hidden = shown;
		this.querySelector("log-view")?.remove();
		if (shown) this.append(logView(this.run, { name: this.output, stream: "stdout", live: this.getAttribute("live") === "true" }));
	}

	#grow(pause = PAUSE) {
		this.#growth ??= setTimeout(() => {
			this.#growth = null;
			this.#busy = this.#busy.then(() => this.#read()).catch(({ message }) => (this.position.textContent = message));
		}, pause);
	}

	async #read() {
		const { items, count: all, live, model } = await get(`runs/${this.run}/transcript/${this.job}`, { after: this.#count });
		for (const item of items) this.#add(item);
		this.#count += items.length;
		this.position.textContent = all > 0 ? count(this.#window.querySelectorAll(".tool").length, "tool use") : "";
		if (all === 0) this.#window.replaceChildren(h("p.empty", live ? "The agent has not reported anything yet." : "The agent has reported nothing."));
		const named = document.querySelector(".job .model");
		if (named && model) named.textContent = model;
		const doing = document.querySelector(".why > .doing");
		const last = [...this.#window.querySelectorAll(".tool > summary, p.tool, .retry")].at(-1);
		if (doing && live) doing.textContent = last ? `: ${last.dataset.text}` : "";
		if (items.length > 0) this.#found = [];
		if (this.follow.checked || (this.#count === items.length && live)) this.#window.scrollTop = this.#window.scrollHeight;
		if (this.#count < all) this.#grow();
	}

	#add({ kind, text }) {
		if (this.#count === 0) this.#window.querySelector(".empty")?.remove();
		const last = this.#window.lastElementChild;
		if (kind === "message") this.#window.append(markdown(text));
		else if (kind === "retry") this.#window.append(h("p.retry.faint", { "data-text": text }, foreign("span", text)));
		else if (kind === "tool" || !last?.classList.contains("tool")) this.#window.append(toolUse(text));
		else last.replaceWith(withDetail(last, kind, text));
	}

	/** Counts every match in what is shown, and goes to the first. */
	#find(key, matches) {
		if (key && key === this.#found.key && this.#found.length > 0) return this.#jump(1);
		const walker = document.createTreeWalker(this.#window, NodeFilter.SHOW_TEXT);
		this.#found = [];
		for (let node; key && (node = walker.nextNode()); ) {
			for (const [start, length] of matches(node.data)) {
				const range = new Range();
				range.setStart(node, start);
				range.setEnd(node, start + length);
				this.#found.push(range);
			}
		}
		this.#found.key = key;
		this.#at = -1;
		this.found.textContent = key ? "no match" : "";
		CSS.highlights?.set("found", new Highlight(...this.#found));
		CSS.highlights?.delete("target");
		return this.#jump(1);
	}

	#jump(by) {
		const all = this.#found.length;
		if (all === 0) return;
		this.#at = (this.#at + by + all) % all;
		const range = this.#found[this.#at];
		this.found.textContent = `${this.#at + 1} of ${all}`;
		this.follow.checked = false;
		range.startContainer.parentElement.closest("details:not([open])")?.setAttribute("open", "");
		CSS.highlights?.set("target", new Highlight(range));
		const [outer, inner] = [this.#window.getBoundingClientRect(), range.getBoundingClientRect()];
		this.#window.scrollTop += inner.top - outer.top - outer.height / 2;
	}
}

function positions(text, wanted) {
	const found = [];
	for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push([at, wanted.length]);
	return found;
}

/** `$ Bash cargo test` */
function toolUse(text) {
	const [name, ...rest] = text.split(" ");
	const [, icon] = ICONS.find(([kind]) => kind.test(name)) ?? [null, "•"];
	const node = h("p.tool", { "data-text": text }, h("span.icon", { "aria-hidden": "true" }, icon), h("strong", name), " ");
	appendForeign(node.appendChild(h("code")), rest.join(" "));
	return node;
}

/** What a tool was given, below its line. */
function withDetail(node, kind, text) {
	const own = kind === "diff" ? diffLines(text) : foreign("pre", text);
	if (node.nodeName === "DETAILS") {
		node.append(own);
		return node;
	}
	const open = kind === "diff" && text.split("\n").length <= SHORT_DIFF;
	const summary = h("summary", { "data-text": node.dataset.text }, [...node.childNodes], kind === "diff" && h("span.faint", ` ${changed(text)}`));
	return h("details.tool", { open }, summary, own);
}

customElements.define("transcript-view", TranscriptView);

/** The outputs of a job: an agent's as what it did. */
export function jobViews(run, { number, transcript, outputs }) {
	return outputs.map((output) => transcript && output.stream === "stdout"
		? h("transcript-view", { "data-key": `transcript-${number}`, "data-own": true, run, job: number, output: output.name, live: String(output.live) })
		: logView(run, output));
}
