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
	if (action === "cancel") return when === "give up waiting" ? "Do not continue" : "Cancel the run";
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

/** The action under way: a second click on the same is none, another one waits for its turn. */
let last = { key: null, done: Promise.resolve() };

/** Starts the command; what it answers is shown until the next action. */
export function perform(path, body, page) {
	const key = JSON.stringify([path, body]);
	if (last.key === key) return null;
	const own = { key };
	own.done = last.done.then(() => act(path, body, page)).finally(() => (own.key = null));
	last = own;
	return own.done;
}

async function act(path, body, page) {
	notice(h("p", "The command is starting …"));
	let answer = null;
	try {
		answer = await post(path, body);
		if (answer.command) notice(h("div", shortened(answer.command), answer.message ? foreign("pre", answer.message) : " was started"));
		else notice();
	} catch ({ command: shown, message, run_id }) {
		if (run_id) answer = { run_id };
		notice(h("div.refusal", { role: "alert" }, shown ? shortened(shown) : "It", run_id ? " failed:" : " was refused:", foreign("pre", message)));
	}
	page.refresh();
	return answer;
}

/** An input may be as long as a file. */
const shortened = (text) => h("code", text.length > 300 ? `${text.slice(0, 300)} …` : text);

function notice(content) {
	const node = document.getElementById("notice");
	if (!content) return node.replaceChildren();
	return node.replaceChildren(content, h("button.quiet", { type: "button", onclick: () => node.replaceChildren() }, "Close"));
}
