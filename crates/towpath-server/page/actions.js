// Actions: each is a command of the program. The button names what it does, and shows the command.

import { post } from "./api.js";
import { h } from "./dom.js";
import { foreign } from "./foreign_text.js";
import { command, field } from "./layout.js";

/** What can be done next: commands, and buttons that are the same. */
export function nextSteps(next, run, page) {
	const button = (entry, at) => h("button", {
		type: "button", class: entry.action === "resume" && at === 0 && "primary", onclick: () => begin(entry, run, page),
	}, verb(entry));
	return next.length > 0 && h("ul.next", next.map((entry, at) => h("li", { "data-key": entry.command },
		entry.body && !page.server.read_only && button(entry, at), h("span.when", entry.when), command(entry.command))));
}

function verb({ action, body, when }) {
	if (action === "answer") return body.verdict === "done" ? "Continue after it" : "Run it again";
	if (action === "cancel") return when === "do not continue" ? "Do not continue" : "Cancel the run";
	return body?.edited ? "Resume the edited recipe" : "Resume";
}

function begin(entry, run, page) {
	const { action, body, command: shown } = entry;
	const act = (more) => perform(`runs/${run.run_id}/${action}`, { ...body, ...more }, page);
	if (action === "answer") return answer(entry, run, act);
	if (action !== "cancel") return act();
	const text = "Its processes are ended. What is recorded stays.";
	return ask({ title: `${verb(entry)}: ${run.recipe_name} ${run.run_id}?`, text, shown, verb: verb(entry), danger: true, act: () => act() });
}

/** A step that may run only once: what became of it, or its path typed to run it again. */
function answer(entry, run, act) {
	const { step, verdict } = entry.body;
	const done = verdict === "done";
	const outcomes = run.questions.find((question) => question.step === step)?.outcomes ?? [];
	const fields = done
		? [
				outcomes.length > 0 && field("Its outcome", h("select", { name: "outcome" }, outcomes.map((name) => h("option", name)))),
				field("Its output, if later steps need it", h("textarea", { name: "output", rows: 3 })),
			]
		: field(["Type ", h("code", step), " to run it a second time"], h("input", { name: "confirm", autocomplete: "off", "data-must-be": step }));
	ask({
		title: done ? `${step} did its work?` : `Run ${step} again?`,
		text: done ? "The run continues with the next step." : "It may have done its work already: then it is done twice.",
		shown: entry.command,
		verb: verb(entry),
		danger: !done,
		fields,
		act: (form) => act(Object.fromEntries([...form].filter(([, value]) => value))),
	});
}

export function ask({ title, text, shown, verb: word, danger, fields, act }) {
	const send = h("button", { class: danger ? "danger" : "primary", value: "act" }, word);
	const form = h("form", { method: "dialog" }, h("h2", { id: "ask-title" }, title), h("p", text), h("p", h("code", shown)), fields,
		h("p.buttons", h("button", { type: "button", onclick: () => dialog.close() }, "Back"), send));
	const typed = form.querySelector("[data-must-be]");
	if (typed) {
		send.disabled = true;
		typed.oninput = () => (send.disabled = typed.value !== typed.dataset.mustBe);
	}
	form.onsubmit = () => act(new FormData(form));
	const dialog = h("dialog", { "aria-labelledby": "ask-title" }, form);
	dialog.onclose = () => dialog.remove();
	document.body.append(dialog);
	dialog.showModal();
}

/** A second click is none. */
let busy = false;

/** Starts the command; what it answers is shown until the next action. */
export async function perform(path, body, page) {
	if (busy) return null;
	busy = true;
	notice(h("p", "The command is starting …"));
	let answer = null;
	try {
		answer = await post(path, body);
		notice(h("div", h("code", answer.command), answer.message ? foreign("pre", answer.message) : " was started"));
	} catch ({ command: shown, message, run_id }) {
		if (run_id) answer = { run_id };
		notice(h("div.refusal", { role: "alert" }, shown ? h("code", shown) : "It", run_id ? " failed:" : " was refused:", foreign("pre", message)));
	}
	busy = false;
	page.refresh();
	return answer;
}

function notice(content) {
	const node = document.getElementById("notice");
	node.replaceChildren(content, h("button.quiet", { type: "button", onclick: () => node.replaceChildren() }, "Close"));
}
