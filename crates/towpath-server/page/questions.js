// Every decision that waits for the user, with the commands that take it.

import { get } from "./api.js";
import { nextSteps } from "./actions.js";
import { h } from "./dom.js";
import { foreign } from "./foreign_text.js";
import { entry, section } from "./layout.js";
import { status } from "./words.js";

/** Trust changes by no event: the recipes are asked for once. */
export async function load(route) {
	route.recipes ??= await get("recipes");
	const untrusted = route.recipes.recipes.filter(({ trusted, shadowed, error }) => trusted === false && !shadowed && !error);
	return { ...(await get("questions")), untrusted };
}

export const title = ({ questions }) => questions.length ? `${questions.length} waiting` : "Questions";

export const wants = (event) => event.kind !== "output";

export function draw({ questions, untrusted }, route, page) {
	return [
		h("h1", "Questions"),
		questions.length === 0 && h("p.empty", "No run waits for a decision."),
		questions.map((question) => card(question, questions, page)),
		untrusted.length > 0 && section("untrusted", "Not trusted yet", h("p", "These recipes came with the project. Read what they run, then decide:"),
			h("ul", untrusted.map(({ name }) => h("li", entry(`/start/${encodeURIComponent(name)}`, name))))),
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
