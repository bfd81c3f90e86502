// Lines as a terminal shows them in the end: what a progress bar overwrites is gone. Colours stay, as
// the sequences that set them.

const MOVES = /[\r\b]|\x1b\[[\d;]*[A-GJKP]/;
const TOKENS = /\x1b\[([\d:;<=>?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\n\r\b]|[^\x1b\n\r\b]+|\x1b/g;
const WIDEST = 4000;
/** Stands where a match begins; it takes no room. */
export const TARGET = "\u{10fffe}";

export function terminalLines(text) {
	const clean = text.replaceAll("\r\n", "\n");
	if (!MOVES.test(clean)) return clean.split("\n");
	const screen = new Screen();
	for (const token of clean.matchAll(TOKENS)) screen.take(token);
	return screen.rows.map(written);
}

class Screen {
	rows = [[]];
	row = 0;
	column = 0;
	style = "";

	take([token, given, final]) {
		if (final) this.#sequence(token, given, final);
		else if (token === "\n") this.#to(this.row + 1, 0);
		else if (token === "\r") this.column = 0;
		else if (token === "\b") this.column = Math.max(0, this.column - 1);
		else if (token[0] !== "\x1b") for (const letter of token) this.#write(letter);
	}

	#write(letter) {
		const row = this.rows[this.row];
		if (letter === TARGET) row.target = this.column;
		else row[this.column++] = [this.style, letter];
	}

	#to(row, column) {
		while (this.rows.length <= row) this.rows.push([]);
		[this.row, this.column] = [Math.max(0, row), Math.min(Math.max(0, column), WIDEST)];
	}

	#sequence(token, given, final) {
		const row = this.rows[this.row];
		const by = Number(given) || 1;
		const move = { A: [-by, 0], B: [by, 0], C: [0, by], D: [0, -by] }[final];
		if (final === "m") this.style = /^0*(;|$)/.test(given) ? token : this.style + token;
		else if (move) this.#to(Math.min(this.row + move[0], Math.max(this.rows.length - 1, this.row)), this.column + move[1]);
		else if (final === "E" || final === "F") this.#to(this.row + (final === "E" ? by : -by), 0);
		else if (final === "G") this.#to(this.row, by - 1);
		else if (final === "P") row.splice(this.column, by);
		else if (final === "K" && given === "1") row.fill(["", " "], 0, this.column);
		else if (final === "K") row.length = given === "2" ? 0 : Math.min(row.length, this.column);
		else if (final === "J" && !Number(given)) {
			row.length = Math.min(row.length, this.column);
			this.rows.length = this.row + 1;
		}
	}
}

function written(row) {
	let [text, style] = ["\x1b[0m", ""];
	for (let at = 0; at <= row.length; at += 1) {
		if (row.target === at || (at === row.length && row.target > at)) text += TARGET;
		const [own, letter] = row[at] ?? ["", " "];
		if (at === row.length) break;
		if (own !== style) text += `\x1b[0m${own}`;
		style = own;
		text += letter;
	}
	return text;
}
