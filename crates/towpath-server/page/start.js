// Recipes that can be started: what one needs and would do, before it runs.

import { ask, perform } from "./actions.js";
import { get, post, withQuery } from "./api.js";
import { h } from "./dom.js";
import { foreign } from "./foreign_text.js";
import { fit, parseChart } from "./graph.js";
import { command, crumbs, entry, field, keepInAddress, section, table } from "./layout.js";
import { count, money, seconds } from "./words.js";

export async function load({ names: [name], query }) {
	const directory = query.get("directory");
	if (name) {
		const earlier = query.get("run") && (await get(`runs/${encodeURIComponent(query.get("run"))}`)).input_texts;
		return { ...(await get(`recipes/${encodeURIComponent(name)}`, { directory, set: query.getAll("set") })), earlier };
	}
	// A directory that is not there can be corrected in its field.
	const failed = ({ status, message }) => (status === 400 ? { recipes: [], directory, message } : Promise.reject(new Error(message)));
	const [{ projects }, list] = await Promise.all([get("runs", { limit: 1 }), get("recipes", { directory }).catch(failed)]);
	return { projects, ...list };
}

export const title = ({ name }) => name ? `Start ${name}` : "Start";

export const wants = () => false;

export const draw = (data, route, page) => data.name ? one(data, route, page) : list(data, route, page);

export function drawn() {
	const image = document.querySelector(".chart > svg");
	if (image) fit(image);
}

function list({ recipes, directory, projects, message }, { query }, page) {
	const text = (query.get("text") ?? "").toLowerCase();
	const change = keepInAddress(page);
	const found = recipes.filter(({ shadowed, name, description }) => !shadowed && `${name} ${description}`.toLowerCase().includes(text));
	const known = new Set([page.server.directory, ...projects.map((project) => project.directory)]);
	const row = ({ name, path, error, steps, description, origin, trusted }) => [
		`${name} ${path}`, error ? name : entry(withQuery(`/start/${encodeURIComponent(name)}`, { directory: query.get("directory") }), name),
		steps ?? "–", foreign("span", error ?? description), [origin, trusted === false && ", not trusted yet"],
	];
	return [
		h("h1", "Start a recipe"),
		h("search.filters",
			field("Find", h("input", { type: "search", name: "text", value: query.get("text"), placeholder: "recipe", oninput: change, onsearch: change })),
			field("Directory", h("input.wide", { name: "directory", list: "directories", value: directory, onchange: change })),
			h("datalist", { id: "directories" }, [...known].map((value) => h("option", { value })))),
		table(["*Recipe", "#Steps", "~About", "From"], found.map(row)),
		message ? h("p.error", { role: "alert" }, message) : found.length === 0 && h("p.empty", "No recipe fits."),
	];
}

function one(data, route, page) {
	const { recipe, name } = data;
	const { query } = route;
	return [
		crumbs([withQuery("/start", { directory: query.get("directory") }), "Start"]),
		h("h1", recipe.recipe ?? name),
		recipe.description && foreign("p.why", recipe.description),
		past(data.past),
		h("div.columns",
			h("div.left", h("div.chart", { tabindex: "0", role: "region", "aria-label": "Picture of the recipe", "data-own": true, "data-key": `chart-${name}-${data.chart.length}` }, parseChart(data.chart))),
			h("div.right", trust(data.trust, page), form(data, route, page), dryRun(route.dry ?? data.dry_run, route.dry))),
	];
}

function past({ runs, done, failed, median_duration, median_cost_usd, cost_unknown_runs }) {
	if (runs === 0) return h("p.totals", "It has not run yet on this machine.");
	const usual = done > 0 ? `; usually ${seconds(median_duration)}, ${money(median_cost_usd)}` : "";
	const unknown = cost_unknown_runs ? `; the cost of ${count(cost_unknown_runs, "run")} is not fully known` : "";
	return h("p.totals", `${count(runs, "earlier run")}: ${done} done, ${failed} failed${usual}${unknown}.`);
}

/** What would run with the user's rights, shown before it is trusted. */
function trust(wanted, page) {
	const decide = ({ path, hash }) => ask({
		title: "Trust these contents?",
		text: "They may run with your rights, until they change.",
		shown: `towpath trust ${path}`,
		verb: "Trust them",
		danger: true,
		act: () => perform("trust", { path, hash }, page),
	});
	const thing = (each) => h("div", { "data-key": each.hash }, h("p", h("code", each.path)), foreign("pre", each.contents),
		!page.server.read_only && h("p", h("button", { type: "button", onclick: () => decide(each) }, "Trust …")));
	return wanted && section("trust", "Not trusted yet", h("p", "It comes with the project. Read what it runs, then decide. Agents run with all permissions, and what they change is staged in git, unless their step says otherwise."), wanted.things.map(thing));
}

/** What was typed, by the address of its form: it survives another screen, and a trust. */
const drafts = new Map();

function form(data, route, page) {
	const { query } = route;
	const [{ required_context, context }] = data.recipe.recipes;
	const draft = location.pathname + location.search;
	const set = new Map([...Object.entries(data.earlier ?? {}), ...query.getAll("set").map((pair) => pair.split(/=(.*)/s)), ...(drafts.get(draft) ?? [])]);
	const inputs = Object.fromEntries([...required_context.map((name) => [name, { value: "", text: "" }]),
		...Object.entries(context).map(([name, value]) => [name, { value, text: data.context_texts[name] }])]);
	const look = async ({ target }) => {
		const body = { directory: data.directory, inputs: changed(target.form, inputs) };
		route.dry = (await post(`recipes/${encodeURIComponent(data.name)}/dry-run`, body).catch(({ message }) => ({ dry_run: { error: { message } } }))).dry_run;
		page.refresh();
	};
	const onsubmit = async (event) => {
		event.preventDefault();
		const given = new FormData(event.target);
		const body = { recipe: data.name, directory: data.directory, inputs: changed(event.target, inputs), wait: given.has("wait") };
		if (given.get("worktree")) body.worktree = given.get("worktree");
		const answer = await perform("runs", body, page);
		if (!answer?.run_id) return;
		drafts.delete(draft);
		page.navigate(`/run/${answer.run_id}`);
	};
	const line = (given) => command(["towpath run", quoted(data.name), ...given.map((pair) => `--set ${quoted(pair.join("="))}`)].join(" "));
	const oninput = ({ currentTarget }) => {
		const given = Object.entries(changed(currentTarget, inputs));
		drafts.set(draft, given);
		currentTarget.querySelector(".line").replaceChildren(line(given));
	};
	return h("form.start", { onsubmit, oninput, "data-key": "form" }, h("h2", "Inputs"),
		Object.keys(inputs).length === 0 && h("p.empty", "It has none."),
		Object.entries(inputs).map(([name, value]) => input(name, value, set.get(name), required_context.includes(name))),
		h("details", h("summary", "More"),
			h("label.check", h("input", { type: "checkbox", name: "wait" }), " Wait until a rate limit resets, then continue"),
			field("In a new worktree, on this branch", h("input", { name: "worktree", autocomplete: "off" }))),
		h("p.faint", "In ", h("code", data.directory)),
		h("p.buttons",
			page.server.read_only ? h("span", "This page is read-only.") : h("button.primary", { disabled: Boolean(data.trust), title: data.trust && "Not before it is trusted" }, `Start ${data.recipe.recipe ?? data.name}`),
			h("button", { type: "button", onclick: look }, "Dry run with these inputs"), h("span.line", line([...set].filter(([name, value]) => inputs[name] && inputs[name].text !== value)))));
}

const quoted = (word) => /^[\w./=:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function input(name, { value, text: usual }, given, required) {
	const own = { name: `input:${name}`, required };
	const label = (node) => h("label", { "data-key": own.name }, h("span", name, required && h("em", " required")), node);
	if (typeof value === "boolean") {
		return h("label.check", { "data-key": own.name }, h("input", { type: "checkbox", name: own.name, checked: given ? given === "true" : value }), ` ${name}`);
	}
	if (typeof value === "number") return label(h("input", { ...own, type: "number", step: "any", value: given ?? usual }));
	const text = given ?? usual;
	const lines = text.split("\n").length;
	if (!required && typeof value === "string" && lines === 1 && text.length < 80) return label(h("input", { ...own, value: text, autocomplete: "off" }));
	return label(h("textarea", { ...own, rows: Math.min(8, Math.max(2, lines)) }, text));
}

function changed(target, inputs) {
	const given = new FormData(target);
	const text = (name, { value }) => (typeof value === "boolean" ? String(given.has(`input:${name}`)) : given.get(`input:${name}`));
	return Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, text(name, input)]).filter(([name, now]) => now !== inputs[name].text));
}

function dryRun(dry, asked) {
	// The form marks required inputs; their error is for a dry run on demand.
	if (dry?.error && !asked) return null;
	const problems = (dry?.problems ?? []).filter(({ severity }) => severity !== "note");
	const steps = dry?.steps ?? [];
	const row = ({ path, status, reason, text }) => [path, [status, reason && `: ${reason}`], path, foreign("code", (text ?? "").trim().split("\n")[0])];
	return section("dry-run", "Dry run",
		dry?.error && foreign("p.error", dry.error.message),
		problems.length > 0 && h("ul.warnings", problems.map(({ error }) => h("li", foreign("span", error)))),
		steps.length > 0 && table(["It", "*Step", "~What"], steps.map(row)),
		dry && steps.length === 0 && !dry.error && h("p", "It starts with its first step; what follows depends on the outcomes."));
}
