// All runs of this machine: what needs the user first.

import { perform } from "./actions.js";
import { get, withQuery } from "./api.js";
import { h } from "./dom.js";
import { foreign } from "./foreign_text.js";
import { entry, field, keepInAddress, section, table } from "./layout.js";
import { count, directory, money, seconds, shape, since, status, statusWord, time } from "./words.js";

const GROUPS = [
	["needs-you", "Needs you", ["asking", "waiting", "interrupted", "failed"]],
	["running", "Running", ["running"]],
	["earlier", "Earlier", ["rest"]],
];
const STATUSES = ["asking", "waiting", "interrupted", "failed", "running", "done", "cancelled", "stopped"];
/** So many runs of each group, and so many that need the user before the rest is folded. */
const MORE = 50;
const URGENT = 5;

export const load = ({ query }) => get("runs", { each: MORE, limit: 1000, ...Object.fromEntries(query) });

const of = ({ runs }, [, , groups]) => runs.filter((run) => groups.includes(run.group));

const size = (data, [, , groups]) => groups.reduce((sum, group) => sum + (data.groups[group] ?? 0), 0);

export function title(data) {
	const [waiting, running] = GROUPS.map((group) => size(data, group));
	const words = [waiting && `${waiting} need${waiting === 1 ? "s" : ""} you`, running && `${running} running`];
	return words.filter(Boolean).join(", ") || "Runs";
}

export const wants = (event) => event.kind !== "output";

export function draw(data, route, page) {
	return [
		h("h1", "Runs"),
		totals(data.totals),
		data.total > 0 && filters(data, route, page),
		data.total === 0 && empty(page),
		data.total > 0 && data.found === 0 && h("p.empty", "No run fits this filter."),
		GROUPS.map((group) => {
			const runs = of(data, group);
			const shown = group[0] === "needs-you" ? runs.slice(0, URGENT) : runs;
			const folded = runs.slice(shown.length);
			return runs.length > 0 && section(group[0], [group[1], h("span.count", size(data, group))], list(shown, page),
				folded.length > 0 && h("details", { "data-key": "folded" }, h("summary", `and ${size(data, group) - shown.length} more`), list(folded, page)));
		}),
		data.found > data.runs.length && more(data, route),
		data.history.length > 0 && history(data.history),
	];
}

function totals({ today, week }) {
	const words = ({ runs, known_usd, incomplete_runs }) =>
		`${count(runs, "run")}, ${money(known_usd)}${incomplete_runs ? ` and the unknown cost of ${count(incomplete_runs, "run")}` : ""}`;
	return h("p.totals", h("span", `Today: ${words(today)}`), h("span", `Seven days: ${words(week)}`));
}

function empty(page) {
	return h("div.empty", h("p", "No run is recorded yet. In any terminal:"), h("p", h("code", "towpath run demo")),
		!page.server.read_only && h("p", "or ", h("a", { href: "/start" }, "start one here"), "."));
}

function filters(data, { query }, page) {
	const onchange = keepInAddress(page);
	const choice = (name, all, entries) => h("select", { name, onchange }, h("option", { value: "" }, all),
		entries.map(([value, text]) => h("option", { value, selected: query.get(name) === value }, text)));
	return h("search.filters",
		field("Find", h("input", { type: "search", name: "text", value: query.get("text"), placeholder: "recipe, run, directory", oninput: onchange, onsearch: onchange })),
		field("Project", choice("project", "All projects", data.projects.map(({ directory, runs }) => [directory, `${directory} (${runs})`]))),
		field("Status", choice("status", "Any status", STATUSES.map((word) => [word, word]))));
}

function list(runs, page) {
	const row = (run) => [
		run.run_id, status(run.group === "asking" ? "asking" : run.status), [entry(`/run/${run.run_id}`, foreign("span", run.recipe_name)), h("span.id", run.run_id)], directory(run.directory), [where(run), dismissal(run, page)],
		`${Math.min(run.steps.ran + run.steps.skipped, run.steps.total)}/${run.steps.total}`, time(run.started),
		run.status === "running" ? since(run.started) : seconds(run.duration), cost(run),
	];
	return table(["Status", "*Recipe and run", "Project", "~Where", "#Steps", "#Started", "#Took", "#Cost"], runs.map(row), "cards even");
}

export const cost = ({ cost_usd, cost_complete }) => cost_usd === 0 && cost_complete ? "–" : money(cost_usd, cost_complete);

/** What was seen and needs nothing more. */
const dismissal = ({ group, run_id }, page) => ["failed", "interrupted"].includes(group) && !page.server.read_only
	&& h("button.quiet", { type: "button", "aria-label": `Dismiss ${run_id}`, onclick: () => perform(`runs/${run_id}/dismiss`, {}, page) }, "Dismiss");

function where(run) {
	const [step, ...others] = run.running_steps;
	if (run.status === "interrupted") return step ? `${step.path}, its process is gone` : "its process is gone";
	if (step) return [step.path, " for ", since(step.since), others.length > 0 && ` and ${others.length} more`];
	return run.where.replace(/\d{4}-\d\d-\d\dT\S+/, (moment) => time(moment).textContent);
}

function more(data, { query }) {
	const each = Number(query.get("each") ?? MORE) + 4 * MORE;
	return h("p", entry(withQuery("/", { ...Object.fromEntries(query), each }), `Show more: ${data.runs.length} of ${data.found} are shown`));
}

function history(recipes) {
	return section("history", "History of recipes", h("table.histories", h("tbody", recipes.map(({ recipe_name, directory: project, runs }) =>
		h("tr", { "data-key": `${recipe_name} ${runs.at(-1).run_id}` }, h("th", { scope: "row" }, h("a", { href: withQuery("/", { text: recipe_name, project }) }, recipe_name), " ", h("span.id", directory(project))), h("td", strip(runs)))))));
}

export function strip(runs, own) {
	return h("ol.strip", runs.map(({ run_id, status: word, duration }) => h("li", { "data-key": run_id }, h("a", {
		href: `/run/${run_id}`, "aria-current": run_id === own && "true", "aria-label": `${run_id} ${statusWord(word)}`,
		title: `${run_id} · ${word} · ${seconds(duration)}`,
	}, shape(word)))));
}
