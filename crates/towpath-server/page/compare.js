// Two runs side by side, step by step.

import { get } from "./api.js";
import { h } from "./dom.js";
import { crumbs, entry, table } from "./layout.js";
import { cost } from "./runs.js";
import { stepAddress } from "./step.js";
import { money, seconds, status, time } from "./words.js";

export const load = ({ names: [first, second] }) => get(`runs/${encodeURIComponent(first)}/compare/${encodeURIComponent(second)}`);

export const title = ({ runs }) => `Compare ${runs[0].run_id} and ${runs[1].run_id}`;

export const wants = (event, { names }) => event.kind !== "output" && names.some((name) => event.run.startsWith(name));

export function draw({ runs, steps, first_difference: first, same_recipe }) {
	const whole = ["", "Whole run", ...runs.flatMap((run) => [status(run.status), seconds(run.duration), cost(run)]), ""];
	const step = (each) => [each.path, each.path, ...runs.flatMap((run, at) => side(each, run, at)),
		each.path === first ? "first difference" : each.differs ? "differs" : { true: "same output", false: "other output" }[each.same_output]];
	return [
		crumbs(["/", "Runs"]),
		h("h1", "Compare two runs"),
		!same_recipe && h("p.warnings", "These are runs of two recipes."),
		h("p.why", first ? ["The first difference is in ", h("strong", first), "."] : "No step ended differently."),
		h("p", runs.map((run) => [entry(`/run/${run.run_id}`, `${run.recipe_name} ${run.run_id}`), " started ", time(run.started), ". "])),
		table(["*Step", ...runs.flatMap(({ run_id }) => [`#${run_id}`, "#Took", "#Cost"]), "~Both"], [whole, ...steps.map(step)]),
	];
}

function side(step, run, at) {
	if (step.status[at] === null) return ["not in this run", "", ""];
	const link = h("a", { href: stepAddress(run.run_id, step.path) }, status(step.status[at]));
	const cost = step.cost_usd[at] === null ? "–" : money(step.cost_usd[at]);
	return [[link, step.outcome[at] && ` ${step.outcome[at]}`, step.attempts[at] > 1 && ` ×${step.attempts[at]}`], seconds(step.duration[at]), cost];
}
