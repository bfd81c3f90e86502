// Every decision that waits for the user, with the commands that take it.

import { get } from "./api.js";
import { nextSteps } from "./actions.js";
import { h } from "./dom.js";
import { foreign } from "./foreign_text.js";
import { entry } from "./layout.js";
import { status } from "./words.js";

export const load = () => get("questions");

export const title = ({ questions }) => questions.length ? `${questions.length} waiting` : "Questions";

export const wants = (event) => event.kind !== "output";

export function draw({ questions }, route, page) {
	return [
		h("h1", "Questions"),
		questions.length === 0 && h("p.empty", "No run waits for a decision."),
		questions.map((question) => card(question, questions, page)),
	];
}

function card(question, all, page) {
	const { run_id, recipe_name } = question;
	const id = `question-${run_id}-${question.step ?? ""}`;
	const run = { run_id, recipe_name, questions: all.filter((other) => other.run_id === run_id) };
	return h("article", { "data-key": id, "aria-labelledby": id, class: `question ${question.kind}` },
		h("h2", { id }, entry(`/run/${run_id}`, foreign("span", recipe_name), " ", run_id), status(question.kind)),
		foreign("p.why", question.text),
		h("p.faint", "In ", h("code", question.directory)),
		nextSteps(question.next, run, page));
}
