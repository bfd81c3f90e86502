// When each job ran. Times in which nothing ran are folded, so that a night between two bursts does not
// make both invisible.

import { h } from "./dom.js";
import { section } from "./layout.js";
import { isWork, stepAddress } from "./step.js";
import { seconds, statusKind, statusWord } from "./words.js";

/** A gap is folded when it is longer than this, and than this share of all the work. */
const SHORTEST = 2000;
const LONG = 0.2;
const FOLDED = 0.04;
const MOST_ROWS = 60;

export function timeline(run) {
	const jobs = run.jobs.map((job) => {
		const begin = +new Date(job.started);
		return { ...job, begin, end: job.ended ? +new Date(job.ended) : job.status === "running" ? Date.now() : begin };
	});
	if (jobs.length === 0) return null;
	const { scale, gaps } = folding(jobs);
	const named = jobs.length <= MOST_ROWS;
	const rows = named ? jobs.map((job) => [job]) : lanes(jobs);
	const took = (job) => seconds(job.ended || job.status === "running" ? (job.end - job.begin) / 1000 : null);
	const name = (job) => isWork(job) ? job.path : `${job.path} ${job.kind}`;
	// The last job of a step has the step's status: the answer of a command may be a failure that the recipe expects.
	const steps = new Map(flat(run.steps).map((step) => [step.path, step.status]));
	const latest = new Map(run.jobs.filter(isWork).map((job) => [job.path, job.number]));
	const kind = (job) => statusKind((latest.get(job.path) === job.number && steps.get(job.path)) || job.status);
	const bar = (job) => {
		const words = `${name(job)}${job.attempt > 1 ? `, attempt ${job.attempt}` : ""}${job.call > 0 ? ", reminder" : ""}: ${statusWord(job.status)}, ${took(job)}`;
		const link = h("a", { class: `bar ${kind(job)}`, href: stepAddress(run.run_id, job.path, job.number), title: words, "aria-label": words });
		return put(link, scale(job.begin), scale(job.end));
	};
	return section("timeline", "Timeline",
		gaps.length > 0 && h("p.faint", `Folded: ${gaps.map(({ idle }) => seconds(idle / 1000)).join(", ")} in which nothing ran.`),
		h("ol", { class: named ? "named" : "lanes" }, rows.map((row) => h("li",
			named && h("span.name", { title: name(row[0]) }, h("bdi", name(row[0]))),
			h("span.track", gaps.map(({ from, to }) => put(h("span.idle-gap"), from, to)), row.map(bar)),
			named && h("span.number", took(row[0]))))));
}

const flat = (steps) => steps.flatMap((step) => [step, ...flat(step.children ?? [])]);

function put(node, from, to) {
	node.style.left = `${100 * from}%`;
	node.style.width = `${100 * (to - from)}%`;
	return node;
}

function folding(jobs) {
	const spans = [];
	for (const { begin, end } of [...jobs].sort((a, b) => a.begin - b.begin)) {
		const last = spans.at(-1);
		if (last && begin <= last.end) last.end = Math.max(last.end, end);
		else spans.push({ begin, end });
	}
	const work = Math.max(1, spans.reduce((sum, { begin, end }) => sum + end - begin, 0));
	const pieces = [];
	let all = 0;
	const add = (begin, end, folded) => {
		const width = folded ? FOLDED * work : end - begin;
		pieces.push({ begin, end, at: all, width, folded });
		all += width;
	};
	spans.forEach(({ begin, end }, index) => {
		const before = spans[index - 1]?.end ?? begin;
		if (begin > before) add(before, begin, begin - before > Math.max(SHORTEST, LONG * work));
		add(begin, end, false);
	});
	all = Math.max(1, all);
	const scale = (time) => {
		const { begin, end, at, width } = pieces.findLast((piece) => piece.begin <= time);
		return (at + (end > begin ? Math.min(1, (time - begin) / (end - begin)) * width : 0)) / all;
	};
	const gaps = pieces.filter(({ folded }) => folded).map(({ begin, end, at, width }) => ({ from: at / all, to: (at + width) / all, idle: end - begin }));
	return { scale, gaps };
}

/** As few rows as possible: a job goes where the one before it has ended. */
function lanes(jobs) {
	const rows = [];
	for (const job of jobs) {
		const row = rows.find((known) => known.at(-1).end <= job.begin);
		if (row) row.push(job);
		else rows.push([job]);
	}
	return rows;
}
