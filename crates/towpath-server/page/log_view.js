// What a job printed. Only a window of it is in the page, in blocks of whole lines: however long the
// output is, scrolling asks for the block above or below, and drops the one at the other end.

import { get, getBytes } from "./api.js";
import { h } from "./dom.js";
import { appendForeign } from "./foreign_text.js";
import { bytes } from "./words.js";

const BLOCK = 32 * 1024;
const MOST_BLOCKS = 10;
const NEWLINE = 10;
const DECODER = new TextDecoder();
const PAUSE = 120;

/** <log-view run output label live> */
class LogView extends HTMLElement {
	static observedAttributes = ["live"];
	#blocks = [];
	#size = 0;
	#target = null;
	#matches = null;
	#match = -1;
	#busy = Promise.resolve();
	#loading = false;
	#growth = null;
	#top = 0;
	#window = null;
	#listen = ({ detail }) => this.#event(detail);

	connectedCallback() {
		if (!this.#window) this.#build();
		document.addEventListener("towpath", this.#listen);
		this.#do(() => this.#end());
	}

	disconnectedCallback() {
		document.removeEventListener("towpath", this.#listen);
		clearTimeout(this.#growth);
	}

	attributeChangedCallback(_, before, now) {
		// What it printed last may have come without an event.
		if (before === "true" && now !== "true") this.#grow();
	}

	#build() {
		const label = this.getAttribute("label");
		[this.run, this.output] = [this.getAttribute("run"), this.getAttribute("output")];
		const live = this.getAttribute("live") === "true";
		const button = (text, onclick, name) => h("button.quiet", { type: "button", onclick, "aria-label": name }, text);
		const search = h("input", { type: "search", "aria-label": `Find in ${label}`, placeholder: "Find", onsearch: () => search.value || this.#search("") });
		const onsubmit = (event) => {
			event.preventDefault();
			this.#search(search.value && { search: search.value, ignore_case: "true" });
		};
		this.#window = h(live ? "div.log.steady" : "div.log", { role: "log", "aria-live": "off", "aria-label": label, tabindex: "0" });
		this.position = h("span.position");
		this.found = h("span.found", { role: "status" });
		this.follow = h("input", { type: "checkbox", role: "switch", checked: live, onchange: () => this.follow.checked && this.#do(() => this.#end()) });
		this.slider = h("input", { type: "range", min: 0, max: 1000, "aria-label": `Position in ${label}`, onchange: () => {
			this.follow.checked = false;
			this.#do(() => this.#around(Math.floor((this.slider.value / 1000) * this.#size)));
		} });
		this.append(
			h("div.log-bar", h("strong", label), this.position, h("label.follow", { hidden: !live }, this.follow, " Follow"),
				h("form.find", { onsubmit }, search, this.found, button("↑", () => this.#jump(-1), "Previous match"), h("button.quiet", { "aria-label": "Next match" }, "↓")),
				button("First error", () => this.#search({ errors: "true" })),
				button("Start", () => this.#do(() => this.#around(0))), button("End", () => this.#do(() => this.#end())),
				button("Download", ({ currentTarget }) => this.#download(currentTarget))),
			this.#window, this.slider);
		this.#window.onscroll = () => this.#scrolled();
	}

	/** One request after the other: blocks stay next to each other. */
	#do(work) {
		this.#busy = this.#busy.then(work).catch(({ message }) => (this.position.textContent = message));
		return this.#busy;
	}

	async #fetch(from, to) {
		const answer = await getBytes(this.run, this.output, from, to);
		this.#size = answer.size;
		return answer;
	}

	/** Shows these bytes, as far as they are whole lines, and nothing else. */
	async #show(from, to, target = null) {
		const answer = await this.#fetch(from, to);
		this.#target = target;
		this.#blocks = [];
		this.#window.replaceChildren();
		this.#append(answer.bytes, answer.from, answer.from === 0 ? 0 : lineStart(answer.bytes));
		this.#shown();
	}

	async #end() {
		await this.#show(-4 * BLOCK);
		this.#window.scrollTop = this.#window.scrollHeight;
	}

	/** The window around a byte, which may be the first one of a match. */
	async #around(offset, target = null) {
		await this.#show(Math.max(0, offset - BLOCK), offset + 3 * BLOCK, target);
		const block = this.#blocks.find(({ to }) => offset < to);
		const goal = this.#window.querySelector(".target");
		if (goal) this.#window.scrollTop = goal.offsetTop - this.#window.clientHeight / 2;
		else if (block) this.#window.scrollTop = offset && block.node.offsetTop + (block.node.offsetHeight * (offset - block.from)) / (block.to - block.from);
	}

	#append(content, from, start) {
		const end = from + content.length >= this.#size ? content.length : lastLineEnd(content);
		while (start < end) {
			const room = content.subarray(start, Math.min(end, start + BLOCK));
			const piece = start + room.length >= end ? room : room.subarray(0, lastLineEnd(room));
			const block = this.#block(piece, from + start);
			this.#blocks.push(block);
			this.#window.append(block.node);
			start += piece.length;
		}
	}

	#block(content, from) {
		const to = from + content.length;
		const node = h("pre.block");
		const before = this.#blocks.at(-1);
		const mark = this.#matches?.mark;
		let state = before?.to === from ? before.state : undefined;
		let at = 0;
		if (this.#target !== null && this.#target >= from && this.#target < to) {
			at = this.#target - from;
			state = appendForeign(node, DECODER.decode(content.subarray(0, at)), state, mark);
			node.append(h("span.target"));
		}
		state = appendForeign(node, DECODER.decode(content.subarray(at)), state, mark);
		return { from, to, node, state, open: content.at(-1) !== NEWLINE };
	}

	#shown() {
		const [first, last] = [this.#blocks.at(0), this.#blocks.at(-1)];
		if (!first) this.#window.replaceChildren(h("p.empty", this.getAttribute("live") === "true" ? "Nothing printed yet." : "Nothing was printed."));
		const all = !first || (first.from === 0 && last.to >= this.#size);
		this.position.textContent = all ? bytes(this.#size) : `${bytes(first.from)} – ${bytes(last.to)} of ${bytes(this.#size)}`;
		this.slider.hidden = all;
		if (!all) this.slider.value = Math.round((1000 * first.from) / Math.max(1, this.#size - (last.to - first.from)));
	}

	#event({ kind, run, output, bytes: size }) {
		if (kind !== "reset" && (kind !== "output" || run !== this.run || output !== this.output)) return;
		this.#size = Math.max(this.#size, size ?? 0);
		this.#grow();
	}

	#grow() {
		this.#growth ??= setTimeout(() => {
			this.#growth = null;
			this.#do(() => this.#below(this.follow.checked));
		}, PAUSE);
	}

	/** More at the end; with `follow` the end is shown, however far it is. */
	async #below(follow) {
		const last = this.#blocks.at(-1);
		if (!last || (follow && this.#size - last.to > 6 * BLOCK)) return this.#end();
		// What ends within a line, or is small, is drawn again.
		const again = last.open || last.to - last.from < BLOCK / 2;
		const from = again ? last.from : last.to;
		const { bytes: content } = await this.#fetch(from, from + 2 * BLOCK);
		if (from + content.length > last.to) {
			if (again) this.#blocks.pop().node.remove();
			this.#append(content, from, 0);
			while (this.#blocks.length > MOST_BLOCKS) {
				const { node } = this.#blocks.shift();
				const height = node.offsetHeight;
				node.remove();
				this.#window.scrollTop -= height;
			}
		}
		this.#shown();
		if (!follow) return;
		this.#window.scrollTop = this.#window.scrollHeight;
		if (this.#blocks.at(-1)?.to < this.#size) this.#grow();
	}

	async #above() {
		const first = this.#blocks.at(0);
		if (!first?.from) return;
		const from = Math.max(0, first.from - BLOCK);
		const { bytes: content } = await this.#fetch(from, first.from);
		const start = from === 0 ? 0 : lineStart(content);
		const block = this.#block(content.subarray(start), from + start);
		const before = this.#window.scrollHeight;
		this.#blocks.unshift(block);
		this.#window.prepend(block.node);
		this.#window.scrollTop += this.#window.scrollHeight - before;
		while (this.#blocks.length > MOST_BLOCKS) this.#blocks.pop().node.remove();
		this.#shown();
	}

	#scrolled() {
		const { scrollTop, scrollHeight, clientHeight } = this.#window;
		const left = scrollHeight - scrollTop - clientHeight;
		if (scrollTop < this.#top - 2 && left > 40) this.follow.checked = false;
		this.#top = scrollTop;
		if (this.#loading) return;
		const above = scrollTop < clientHeight && this.#blocks.at(0)?.from > 0;
		if (!above && !(left < clientHeight && this.#blocks.at(-1)?.to < this.#size)) return;
		this.#loading = true;
		this.#do(() => (above ? this.#above() : this.#below(false))).then(() => (this.#loading = false));
	}

	/** The server searches the whole output, and counts every match. */
	async #search(query) {
		const key = JSON.stringify(query);
		if (this.#matches?.key === key && this.#matches.size === this.#size) return this.#jump(1);
		this.#matches = null;
		this.found.textContent = query && "…";
		if (!query) return this.#do(() => this.#around(this.#blocks.at(0)?.from ?? 0));
		await this.#do(async () => {
			const found = await get(`runs/${this.run}/logs/${this.output}`, query);
			this.#matches = { ...found, key, mark: query.search?.toLowerCase() };
			this.#match = -1;
			this.found.textContent = "no match";
		});
		this.#jump(1);
	}

	#jump(by) {
		const { matches: list, count } = this.#matches ?? { matches: [] };
		if (list.length === 0) return;
		this.#match = (this.#match + by + list.length) % list.length;
		const { offset, line } = list[this.#match];
		const word = (number) => number.toLocaleString("en");
		this.found.textContent = `${word(this.#match + 1)} of ${word(count)}, line ${word(line)}`;
		this.follow.checked = false;
		this.#do(() => this.#around(offset, offset));
	}

	/** Asked for piece by piece: a link could not carry the token. */
	async #download(button) {
		const { run, output } = this;
		const parts = [];
		button.disabled = true;
		try {
			for (let from = 0, size = 1; from < size; ) {
				const piece = await getBytes(run, output, from);
				parts.push(piece.bytes);
				from += piece.bytes.length;
				size = piece.bytes.length ? piece.size : 0;
			}
			const href = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
			h("a", { href, download: `${run}-${output}.txt` }).click();
			setTimeout(() => URL.revokeObjectURL(href), 60_000);
		} catch ({ message }) {
			this.position.textContent = message;
		}
		button.disabled = false;
	}
}

/** Where the first whole line starts; without one, the first whole character. */
function lineStart(content) {
	const newline = content.indexOf(NEWLINE);
	if (newline >= 0 && newline + 1 < content.length) return newline + 1;
	const start = content.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
	return Math.max(0, start);
}

/** Behind the last whole line; without one, behind the last whole character. */
function lastLineEnd(content) {
	const newline = content.lastIndexOf(NEWLINE);
	if (newline >= 0) return newline + 1;
	const tail = content.subarray(-4);
	const start = tail.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
	return start >= 0 && tail[start] >= 0xc0 && content.length > 4 ? content.length - tail.length + start : content.length;
}

customElements.define("log-view", LogView);

export const logView = (run, { name, stream, live }) => h("log-view", { "data-key": `log-${name}`, "data-own": true, run, output: name, live: String(live), label: stream });
