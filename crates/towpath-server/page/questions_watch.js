// How many decisions wait, wherever the user is: beside the menu, and as a notification when the user
// wants one. The tab's icon shows that, else the status of its run.

import { get } from "./api.js";

const SETTING = "towpath-notify";
const PAUSE = 500;
const COLOURS = { ok: "2da44e", bad: "cf222e", run: "218bff", wait: "bf8700", ask: "a371f7", idle: "848d97" };
let asks = false;
let shown = null;
let known = null;
let timer = null;

export function watchQuestions(page) {
	document.addEventListener("towpath", ({ detail }) => {
		if (detail.kind !== "output") timer ??= setTimeout(() => look(page), PAUSE);
	});
	offerNotification();
	look(page);
}

export function setIcon(kind = shown) {
	shown = kind;
	const colour = COLOURS[asks ? "ask" : kind];
	document.querySelector("link[rel=icon]").href = colour
		? `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 2 2'><circle cx='1' cy='1' r='1' fill='%23${colour}'/></svg>` : "/icon.svg";
}

async function look(page) {
	timer = null;
	let list;
	try {
		list = (await get("questions")).questions;
	} catch {
		return;
	}
	const count = document.getElementById("waiting-count");
	count.hidden = list.length === 0;
	count.textContent = list.length;
	asks = list.length > 0;
	setIcon();
	const ids = new Map(list.map((question) => [`${question.run_id} ${question.step}`, question]));
	if (known && localStorage.getItem(SETTING) === "on") {
		for (const [id, question] of ids) if (!known.has(id)) notify(question, page);
	}
	known = ids;
}

function notify({ recipe_name, run_id, text }, page) {
	const note = new Notification(`${recipe_name} ${run_id}`, { body: text, tag: run_id });
	note.onclick = () => {
		window.focus();
		page.navigate(`/run/${run_id}`);
	};
}

function offerNotification() {
	const label = document.getElementById("notify");
	// Without TLS a browser always refuses.
	if (!("Notification" in window) || !isSecureContext) return;
	const box = label.querySelector("input");
	label.hidden = false;
	box.checked = localStorage.getItem(SETTING) === "on" && Notification.permission === "granted";
	box.onchange = async () => {
		const wanted = box.checked && (await Notification.requestPermission()) === "granted";
		box.checked = wanted;
		localStorage.setItem(SETTING, wanted ? "on" : "off");
	};
}
