// Markdown of agents as elements. All of it is foreign: what is not understood stays text, and a link
// is shown with its address, not as a link.

import { h } from "./dom.js";
import { appendForeign } from "./foreign_text.js";

const FENCE = /^(\s*)(`{3,}|~{3,})\s*(\S*)/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+/;
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;
const ROW = /^\s*\|.*\|\s*$/;
const DASHES = /^\s*\|?(\s*:?-+:?\s*\|)+\s*:?-*:?\s*$/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const QUOTE = /^\s*>\s?/;
const INLINE = /(`+)(.+?)\1(?!`)|\*\*(\S(?:.*?\S)?)\*\*|(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?!\w)|(?<!\w)_(\S(?:[^_]*\S)?)_(?!\w)|!?\[([^\]\n]*)\]\(([^()\s]+)[^()]*\)/;

export function markdown(text) {
	return h("div.markdown", blocks(text.replaceAll("\r\n", "\n").split("\n")));
}

function blocks(lines) {
	const made = [];
	while (lines.length > 0) made.push(...block(lines));
	return made;
}

/** Takes the lines of one block. */
function block(lines) {
	const [first] = lines;
	const fence = FENCE.exec(first);
	if (fence) return [code(lines, fence)];
	if (first.trim() === "") return lines.shift() && [];
	const heading = HEADING.exec(first);
	if (heading) return lines.shift() && [inline(h(heading[1] === "#" ? "h3.first" : "h3"), heading[2])];
	if (RULE.test(first)) return lines.shift() && [h("hr")];
	if (QUOTE.test(first)) return [h("blockquote", blocks(take(lines, (line) => QUOTE.test(line)).map((line) => line.replace(QUOTE, ""))))];
	if (ROW.test(first) && DASHES.test(lines[1] ?? "")) return [grid(take(lines, (line) => ROW.test(line)))];
	if (ITEM.test(first)) return [list(lines)];
	const own = take(lines, (line, at) => line.trim() !== "" && (at === 0 || ![FENCE, HEADING, QUOTE, ITEM, ROW].some((kind) => kind.test(line))));
	return [inline(h("p"), own.join("\n"))];
}

function take(lines, fits) {
	const end = lines.findIndex((line, at) => !fits(line, at));
	return lines.splice(0, end < 0 ? lines.length : Math.max(1, end));
}

function code(lines, [, indent, fence]) {
	lines.shift();
	const end = lines.findIndex((line) => line.trim().startsWith(fence) && line.trim().replaceAll(fence[0], "") === "");
	const own = lines.splice(0, end < 0 ? lines.length : end + 1);
	if (end >= 0) own.pop();
	const node = h("pre");
	appendForeign(node, own.map((line) => line.startsWith(indent) ? line.slice(indent.length) : line).join("\n"));
	return node;
}

function list(lines) {
	const [, indent, sign] = ITEM.exec(lines[0]);
	const items = [];
	for (let found; (found = ITEM.exec(lines[0] ?? "")) && found[1].length <= indent.length; ) {
		const width = found[0].length;
		const own = [lines.shift().slice(width)];
		while (lines.length > 0 && (/^\s+\S/.test(lines[0]) ? /^\s*/.exec(lines[0])[0].length > indent.length : lines[0] === "" && /^\s{2,}\S/.test(lines[1] ?? ""))) {
			own.push(lines.shift().replace(new RegExp(`^\\s{0,${width}}`), ""));
		}
		const content = blocks(own);
		// An item of one paragraph needs no room around it.
		items.push(h("li", content[0]?.nodeName === "P" ? [...content[0].childNodes] : content[0], content.slice(1)));
	}
	return h(/\d/.test(sign) ? "ol" : "ul", /\d/.test(sign) && { start: parseInt(sign, 10) }, items);
}

function grid(lines) {
	const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
	const row = (name, line) => h("tr", cells(line).map((cell) => inline(h(name), cell)));
	return h("div.scroll", h("table", h("thead", row("th", lines[0])), h("tbody", lines.slice(2).map((line) => row("td", line)))));
}

function inline(parent, text) {
	for (let rest = text; rest; ) {
		const found = INLINE.exec(rest);
		appendForeign(parent, found ? rest.slice(0, found.index) : rest);
		if (!found) break;
		rest = rest.slice(found.index + found[0].length);
		const [, , verbatim, strong, star, line, label, address] = found;
		if (verbatim !== undefined) appendForeign(parent.appendChild(h("code")), verbatim.trim());
		else if (address !== undefined) {
			inline(parent, label);
			if (label !== address) appendForeign(parent.appendChild(h("span.faint")), ` (${address})`);
		} else inline(parent.appendChild(h(strong !== undefined ? "strong" : "em")), strong ?? star ?? line);
	}
	return parent;
}
