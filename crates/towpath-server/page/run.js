// One run: why it is where it is, what can be done, its steps as a graph and as a table, and the step
// that matters now, open.

import { get, getText, withQuery } from "./api.js";
import { nextSteps } from "./actions.js";
import { diffView } from "./diff_view.js";
import { h } from "./dom.js";
import { foreign } from "./foreign_text.js";
import { runGraph } from "./graph.js";
import { crumbs, entry, facts, section, table } from "./layout.js";
import { cost, strip } from "./runs.js";
import { isWork, kindWord, stepAddress } from "./step.js";
import { timeline } from "./timeline.js";
import { jobViews } from "./transcript_view.js";
import { count, money, seconds, since, status, statusWord, time } from "./words.js";

/** The image of a run's recipe, which a resume may have changed, and the runs of that recipe. */
let chart = { key: null, text: "" };

export async function load({ names: [name] }) {
	const run = await get(`runs/${encodeURIComponent(name)}`);
	const key = `${run.run_id} ${run.resume} ${run.status}`;
	if (chart.key !== key) {
		const { history } = await get("runs", { text: run.run_id, limit: 1 });
		chart = { key, text: await getText(`runs/${run.run_id}/graph.svg`).catch(() => ""), history: history[0]?.runs ?? [] };
	}
	return { run, history: chart.history };
}

export const title = ({ run }) => `${statusWord(run.status)}: ${run.recipe_name} ${run.run_id}`;

export const wants = (event, { names: [name] }) => event.kind !== "output" && event.run.startsWith(name);

export function drawn({ run }) {
	if (chart.text) document.querySelector("run-graph")?.show(chart.text, run);
}

export function draw({ run, history }, route, page) {
	return [
		crumbs(["/", "Runs"]),
		h("div.head", h("h1", foreign("span", run.recipe_name), " ", h("span.id", run.run_id)), status(isAsking(run) ? "asking" : run.status)),
		// What its agent does now is set by the view of that agent.
		h("p.why", foreign("span", run.why), h("span.doing", { "data-own": true, "data-key": `doing-${run.status}-${run.why}` })),
		nextSteps(run.next, run, page),
		preview(run.resume_preview),
		about(run),
		run.warnings.length > 0 && h("ul.warnings", run.warnings.map((text) => h("li", foreign("span", text)))),
		h("div.columns",
			h("div.left", runGraph(run)),
			h("div.right", openStep(run), run.jobs.some(({ kind }) => kind === "agent") && diffView(run.run_id), steps(run, route), timeline(run), past(run, history))),
	];
}

/** A decision waits, whatever became of its process. */
const isAsking = ({ questions }) => questions.some(({ kind }) => kind === "asking");

const WOULD = { keeps: "kept, not run again", again: "run again", to_come: "run for the first time", asks: "asked about first" };

/** What a resume would do, before it is done. */
function preview(would) {
	const parts = Object.entries(WOULD).filter(([key]) => would?.[key].length > 0);
	if (parts.length === 0) return null;
	return h("details.preview", h("summary", "A resume: ", parts.map(([key, words]) => `${would[key].length} ${words}`).join(" · ")),
		h("dl", parts.map(([key, words]) => [h("dt", words), h("dd", would[key].join(", "))])));
}

function about(run) {
	return facts([
		["Project", h("code", run.directory)],
		["Recipe", h("a", { href: withQuery(`/start/${encodeURIComponent(run.source)}`, { directory: run.directory, run: run.run_id }), title: "Start it again, with these inputs" }, run.source)],
		["Started", time(run.started)],
		["Took", run.status === "running" ? since(run.started) : seconds(run.duration)],
		["Cost", cost(run)],
		["Process", run.owner?.pid && String(run.owner.pid)],
		["Until", run.waiting_until && time(run.waiting_until)],
		["Worktree", run.worktree && h("code", run.worktree.path)],
		["Ended with", run.status === "done" && run.machine?.reason],
		["Restarts", run.machine?.restarts > 0 && String(run.machine.restarts)],
		...Object.entries(run.input_texts).map(([name, value]) => [name, foreign("code", value)]),
	]);
}

function* walk(list, depth = 0) {
	for (const step of list) {
		yield { ...step, depth };
		yield* walk(step.children ?? [], depth + 1);
	}
}

/** The step that matters now: what failed, asks, or runs. */
function openStep(run) {
	const all = [...walk(run.steps)].filter((step) => !step.children?.length && !step.tolerated);
	const words = run.status === "running" ? ["running"] : run.status === "done" ? [] : ["asking", "failed", "interrupted", "waiting"];
	const step = words.map((word) => all.findLast((known) => known.status === word)).find(Boolean);
	if (!step) return null;
	const job = run.jobs.findLast((known) => known.path === step.path && isWork(known));
	const outputs = [...(job?.outputs ?? [])];
	if (step.status === "failed" && !job?.transcript) outputs.reverse();
	return section("open-step", [entry(stepAddress(run.run_id, step.path), step.path), status(step.status)],
		step.error && foreign("p.error", step.error),
		job && jobViews(run.run_id, { ...job, outputs }),
		outputs.length === 0 && !step.error && step.text && foreign("pre", step.text));
}

const FOLD = 8;
const QUIET = new Set(["completed", "pending", "not_reached", "skipped", "running"]);

function steps(run, { query }) {
	const all = [...walk(run.steps)];
	const rows = query.get("steps") === "all" ? all.map((step) => [step]) : folded(all);
	let restarts = 0;
	return section("steps", ["Steps", h("span.count", all.length)],
		table(["Status", "*Step", "Kind", "#Attempts", "#Took", "#Cost", "~About"], rows.flatMap((group) => {
			const own = group.length > 1 ? foldedRow(group) : row(run, group[0]);
			if (group[0].depth > 0 || !(group[0].restarts > restarts)) return [own];
			restarts = group[0].restarts;
			return [[`restart ${restarts}`, `Restart ${restarts}: a new session`], own];
		})));
}

/** Only what is one card of the graph is one row: steps that run at the same time, with the same status. */
function folded(all) {
	const cards = Array.from(chart.text.matchAll(/data-steps="([^"]*)"/g), ([, ids]) => new Set(JSON.parse(ids.replaceAll("&quot;", '"').replaceAll("&amp;", "&"))));
	const card = ({ step_id }) => cards.findIndex((ids) => ids.has(step_id));
	const groups = [];
	for (const step of all) {
		const first = groups.at(-1)?.[0];
		if (first && card(step) >= 0 && card(first) === card(step) && first.status === step.status && first.depth === step.depth && !step.children) groups.at(-1).push(step);
		else groups.push([step]);
	}
	return groups.flatMap((group) => (group.length > FOLD && QUIET.has(group[0].status) ? [group] : group.map((step) => [step])));
}

function foldedRow(group) {
	const [first, last] = [group[0], group.at(-1)];
	const link = entry(withQuery(location.pathname, { steps: "all" }), "Show each");
	return [`folded ${first.path}`, status(first.status), `${first.path} … ${last.path}`, count(group.length, "step"), "", "", "", link];
}

function row(run, step) {
	const about = step.skip_reason ?? step.outcome ?? (step.tolerated ? "tolerated" : null) ?? (step.children ? "" : step.error).split("\n").findLast(Boolean) ?? "";
	return [
		step.path, status(step.status), h("span", { class: `depth-${Math.min(step.depth, 4)}` }, entry(stepAddress(run.run_id, step.path), step.depth > 0 ? step.path.split("/").at(-1) : step.path)),
		kindWord(step), step.attempts > 0 ? step.attempts : "–", took(run, step),
		step.cost_usd === undefined ? "–" : money(step.cost_usd, step.cost_complete), foreign("span", about),
	];
}

function took(run, step) {
	if (step.status !== "running") return seconds(step.duration);
	const job = run.jobs.find(({ path, status: now }) => now === "running" && `${path}/`.startsWith(`${step.path}/`));
	return job ? since(job.started) : "–";
}

function past(run, history) {
	if (history.length < 2) return null;
	const at = history.findIndex(({ run_id }) => run_id === run.run_id);
	const other = history[at - 1] ?? history[at + 1];
	return section("past", "Runs of this recipe", strip(history, run.run_id),
		h("p", entry(`/compare/${other.run_id}/${run.run_id}`, `Compare with ${other.run_id}`)));
}
