// One visit of a step: what it was given, what it answered and printed, in each of its attempts.

import { get, inAddress, withQuery } from "./api.js";
import { diffView } from "./diff_view.js";
import { h } from "./dom.js";
import { foreign } from "./foreign_text.js";
import { command, crumbs, entry, facts, section } from "./layout.js";
import { markdown } from "./markdown.js";
import { jobViews } from "./transcript_view.js";
import { money, seconds, since, status, statusWord, time } from "./words.js";

/** Whether a job is the step's own work, and no hook around it. */
export const isWork = ({ kind }) => kind === "bash" || kind === "agent";

export const kindWord = ({ type }) => type === "bash" ? "command" : type;

export const load = ({ names: [run, path] }) => get(`runs/${encodeURIComponent(run)}/steps/${inAddress(path)}`);

export const title = ({ step, run_id }) => `${statusWord(step.status)}: ${step.path} · ${run_id}`;

export const wants = (event, { names: [run] }) => event.kind !== "output" && event.run.startsWith(run);

export const stepAddress = (run, path, job) => withQuery(`/run/${run}/step/${inAddress(path)}`, { job });

export function draw(data, { query }) {
	const { run_id, step, jobs } = data;
	const job = jobs.find(({ number }) => number === Number(query.get("job"))) ?? jobs.findLast(isWork) ?? jobs.at(-1);
	return [
		crumbs(["/", "Runs"], [`/run/${run_id}`, `Run ${run_id}`]),
		h("div.head", h("h1", step.path), status(step.status)),
		step.error && foreign("p.error", step.error),
		step.skip_reason && h("p.why", `skipped: ${step.skip_reason}`),
		facts([
			["Kind", kindWord(step)],
			["Took", jobs.length !== 1 && step.duration !== undefined && seconds(step.duration)],
			["Cost", jobs.length !== 1 && step.cost_usd !== undefined && money(step.cost_usd, step.cost_complete)],
			["Outcome", step.outcome && [step.outcome, step.description && foreign("span", `: ${step.description}`)]],
			["Possible outcomes", data.outcomes.join(", ")],
			["Condition", data.condition && foreign("code", data.condition)],
			["Effect", data.once && "it may run only once"],
			["Failure", step.tolerated && "tolerated: the run continued"],
		]),
		data.visits.length > 1 && tabs("Visits", data.visits.map((path, at) => [stepAddress(run_id, path), path === step.path, at + 1])),
		jobs.length > 1 && tabs("Attempts", jobs.map((each) => [stepAddress(run_id, step.path, each.number), each === job,
			[each.path !== step.path && `visit ${each.visit}, `, isWork(each) ? each.attempt : each.kind, each.call > 0 && `, reminder ${each.call}`, " ", status(each.status)]])),
		job ? jobSection(run_id, job) : notStarted(data),
		step.children && section("called", "Steps of the called recipe",
			h("ul", step.children.map((child) => h("li", entry(stepAddress(run_id, child.path), child.path), " ", status(child.status))))),
	];
}

const tabs = (name, links) => h("nav.tabs", { "aria-label": name }, h("span", name), links.map(([href, current, content]) => h("a", { href, "aria-current": current && "page" }, content)));

function notStarted({ step, text }) {
	return [
		step.type !== "recipe" && h("p.empty", "It was not started."),
		text && section("written", "As its author wrote it", foreign("pre", text)),
	];
}

function jobSection(run, job) {
	const agent = job.kind === "agent";
	// Of most agents the answer is all that was printed.
	const answered = new TextEncoder().encode(job.answer ?? "").length;
	const outputs = job.outputs.filter(({ stream, bytes }) => job.transcript || job.answer === null || stream !== "stdout" || bytes !== answered);
	return h("section.job", { "data-key": `job-${job.number}`, "aria-label": `Attempt ${job.attempt}` },
		facts([
			["Started", time(job.started)],
			["Took", job.ended ? seconds((new Date(job.ended) - new Date(job.started)) / 1000) : job.status === "running" && since(job.started)],
			["Exit code", job.exit_code !== null && String(job.exit_code)],
			["Directory", job.directory && h("code", job.directory)],
			["Agent", agent && job.backend],
			["Model", agent && (job.model ?? h("span.model", { "data-own": true }, "its own choice"))],
			["Session", job.session_id && h("code", job.session_id)],
			["Tokens", job.usage && tokens(job.usage)],
			["Cost", job.usage && money(job.usage.cost_usd)],
		]),
		job.error && foreign("p.error", job.error),
		job.text && h("details", { open: agent || outputs.length === 0 }, h("summary", agent ? "Prompt" : "Command"), foreign("pre", job.text)),
		job.answer !== null && !job.transcript && section("answer", "Answer", markdown(job.answer)),
		jobViews(run, { ...job, outputs }),
		agent && job.ended && diffView(run, job.path),
		!agent && outputs.length === 0 && h("p.empty", job.status === "running" ? "Nothing printed yet." : "It printed nothing."),
		h("p.faint", "In a terminal: ", command(`towpath logs ${run} ${job.path}`)));
}

function tokens({ input_tokens, output_tokens }) {
	const word = (number) => number?.toLocaleString("en") ?? "unknown";
	return `${word(input_tokens)} in, ${word(output_tokens)} out`;
}
