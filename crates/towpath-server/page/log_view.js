// What a job printed. Only a window of it is in the page, in blocks of whole lines: however long the
// output is, scrolling asks for the block above or below, and drops the one at the other end.

import { get, getBytes } from "./api.js";
import { h } from "./dom.js";
import { appendForeign } from "./foreign_text.js";
import { TARGET, terminalLines } from "./terminal_lines.js";
import { bytes } from "./words.js";

const BLOCK = 32 * 1024;
const MOST_BLOCKS = 10;
const NEWLINE = 10;
const DECODER = new TextDecoder();
const PAUSE = 120;
/** So many matches come in one answer. */
const PAGE = 1000;

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
		this.#window.onkeydown = (event) => {
			if (event.key !== "Home" && event.key !== "End") return;
			event.preventDefault();
			this.#do(() => (event.key === "Home" ? this.#around(0) : this.#end()));
		};
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
		const start = answer.from && lineStart(answer.bytes);
		this.#append(answer.bytes.subarray(start), answer.from + start);
		// Before a short end may be one long line.
		const { clientHeight } = this.#window;
		while (clientHeight && this.#blocks.at(0)?.from > 0 && this.#window.scrollHeight <= clientHeight) await this.#above();
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

	/** Adds bytes in blocks of whole lines; the first of them is `block`, if that has room. */
	#append(content, from, block) {
		const end = from + content.length >= this.#size ? content.length : lastLineEnd(content);
		for (let start = 0; start < end; block = null) {
			const room = content.subarray(start, Math.min(end, start + BLOCK));
			const piece = start + room.length >= end ? room : room.subarray(0, lastLineEnd(room));
			if (!block) {
				const before = this.#blocks.at(-1);
				block = { from: from + start, lines: [], node: h("pre.block"), state: before?.to === from + start ? before.lines.at(-1)?.end : undefined };
				this.#blocks.push(block);
				this.#window.append(block.node);
			}
			this.#fill(block, piece);
			start += piece.length;
		}
	}

	/** Lines that are the same stay as they are: what the user has selected in them stays selected. */
	#fill(block, content) {
		Object.assign(block, { content, to: block.from + content.length });
		const at = this.#target - block.from;
		const split = this.#target !== null && at >= 0 && at < content.length;
		const text = split ? DECODER.decode(content.subarray(0, at)) + TARGET + DECODER.decode(content.subarray(at)) : DECODER.decode(content);
		const lines = terminalLines(text).map((line, number, all) => number < all.length - 1 ? `${line}\n` : line);
		let same = 0;
		while (same < lines.length && lines[same] === block.lines[same]?.line) same += 1;
		for (const { nodes } of block.lines.splice(same)) nodes.forEach((node) => node.remove());
		for (const line of lines.slice(same)) {
			const drawn = this.#line(line, block.lines.length > 0 ? block.lines.at(-1).end : block.state);
			block.node.append(...drawn.nodes);
			block.lines.push(drawn);
		}
	}

	#line(line, state) {
		const holder = h("span");
		const [before, after] = line.split(TARGET);
		const mark = this.#matches?.mark;
		let end = appendForeign(holder, before, state, mark);
		if (after === undefined) return { line, end, nodes: [...holder.childNodes] };
		holder.className = "target-line";
		holder.append(h("span.target"));
		end = appendForeign(holder, after, end, mark);
		return { line, end, nodes: [holder] };
	}

	#shown() {
		const [first, last] = [this.#blocks.at(0), this.#blocks.at(-1)];
		if (!first) this.#window.replaceChildren(h("p.empty", this.getAttribute("live") === "true" ? "Nothing printed yet." : "Nothing was printed."));
		const all = !first || (first.from === 0 && last.to >= this.#size);
		// A stream that may stay empty takes no room.
		this.hidden = !first && this.getAttribute("live") === "true" && this.getAttribute("label") === "stderr";
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
		const { bytes: content } = await this.#fetch(last.to, last.to + 2 * BLOCK);
		if (content.length > 0) {
			if (last.content.length < BLOCK) this.#append(joined(last.content, content), last.from, last);
			else this.#append(content, last.to);
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
		const block = { from: from + start, lines: [], node: h("pre.block") };
		this.#fill(block, content.subarray(start));
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
			this.#matches = { key, query, mark: query.search?.toLowerCase(), size: this.#size, pages: new Map() };
			this.#match = -1;
			await this.#page(0);
			this.found.textContent = "no match";
		});
		this.#jump(1);
	}

	async #page(number) {
		const { pages, query } = this.#matches;
		if (!pages.has(number)) {
			const { count, matches } = await get(`runs/${this.run}/logs/${this.output}`, { ...query, skip: number * PAGE });
			pages.set(number, matches);
			this.#matches.count = count;
		}
		return pages.get(number);
	}

	#jump(by) {
		const { count } = this.#matches ?? {};
		if (!count) return;
		const match = (this.#match + by + count) % count;
		this.#match = match;
		this.follow.checked = false;
		this.#do(async () => {
			const { offset, line } = (await this.#page(Math.floor(match / PAGE)))[match % PAGE];
			const word = (number) => number.toLocaleString("en");
			this.found.textContent = `${word(match + 1)} of ${word(count)}, line ${word(line)}`;
			await this.#around(offset, offset);
		});
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

function joined(first, second) {
	const both = new Uint8Array(first.length + second.length);
	both.set(first);
	both.set(second, first.length);
	return both;
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
