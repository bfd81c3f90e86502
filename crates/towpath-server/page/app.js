// Which screen is shown, and when it is drawn again. A screen is a module: `load` asks the server, `draw`
// makes the elements, `wants` knows the events that change it. The page keeps nothing that the server knows.

import { get, openingAddress, Refused, takeCode, takeToken, token } from "./api.js";
import { Connection } from "./connection.js";
import { h, morphChildren } from "./dom.js";
import { plain } from "./foreign_text.js";
import { listenToKeys, showHelp } from "./keyboard.js";
import { setIcon, watchQuestions } from "./questions_watch.js";
import { statusKind, tick } from "./words.js";
import * as compare from "./compare.js";
import * as doctor from "./doctor.js";
import * as questions from "./questions.js";
import * as run from "./run.js";
import * as runs from "./runs.js";
import * as start from "./start.js";
import * as step from "./step.js";

const SCREENS = [
	[/^\/$/, runs],
	[/^\/run\/([^/]+)$/, run],
	[/^\/run\/([^/]+)\/step\/(.+)$/, step],
	[/^\/questions$/, questions],
	[/^\/start(?:\/(.+))?$/, start],
	[/^\/compare\/([^/]+)\/([^/]+)$/, compare],
	[/^\/doctor$/, doctor],
];
/** Changes that come together are asked for together. */
const PAUSE = 200;

const main = document.getElementById("main");
/** What every screen may know. */
const page = { server: null, navigate, refresh };
let route = null;
let data = null;
let loading = null;
let drawn = null;

function show() {
	const { pathname, search } = location;
	const [pattern, screen] = SCREENS.find(([known]) => known.test(pathname)) ?? [];
	const names = pattern?.exec(pathname).slice(1).map((part) => part && decoded(part));
	route = { screen, names, query: new URLSearchParams(search) };
	data = null;
	for (const link of document.querySelectorAll("header nav a")) {
		const own = link.pathname === "/" ? /^\/($|run\/|compare\/)/.test(pathname) : pathname.startsWith(link.pathname);
		if (own) link.setAttribute("aria-current", "page");
		else link.removeAttribute("aria-current");
	}
	if (screen) return refresh();
	return failed(new Refused(404, "", "This address has no screen."));
}

function decoded(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

/** Asks again and draws; calls while it asks are one more request. */
function refresh() {
	if (loading?.route === route) loading.again = true;
	else {
		loading = { route };
		loading.done = load(loading);
	}
	return loading.done;
}

async function load(own) {
	const { route: mine } = own;
	do {
		own.again = false;
		try {
			const loaded = await mine.screen.load(mine);
			await released();
			if (route !== mine) return;
			data = loaded;
			put(...mine.screen.draw(data, mine, page));
			mine.screen.drawn?.(data);
			setIcon(data.run ? statusKind(data.run.status) : null);
			document.title = plain(`${mine.screen.title(data)} · Towpath`);
		} catch (error) {
			if (route === mine) failed(error);
		}
		if (own.again) await new Promise((resolve) => setTimeout(resolve, PAUSE));
	} while (own.again && route === mine);
	if (loading === own) loading = null;
}

// A press and its release make a click only if nothing has changed between them: what is to be drawn
// meanwhile is drawn when the pointer is up again, after the click.
let pressed = false;
let waiting = null;
addEventListener("pointerdown", () => (pressed = true), true);
for (const name of ["pointerup", "pointercancel", "pointermove", "dragend", "blur"]) {
	addEventListener(name, ({ buttons }) => {
		// A press that ended outside of the page shows when the pointer is back.
		if (!pressed || (name === "pointermove" && buttons > 0)) return;
		setTimeout(() => {
			pressed = false;
			waiting?.();
			waiting = null;
		});
	}, true);
}
const released = () => pressed && new Promise((resolve) => (waiting = resolve));

/** Another screen is drawn whole: nothing of one run is left on another's. */
function put(...children) {
	if (drawn !== location.pathname) main.replaceChildren();
	drawn = location.pathname;
	morphChildren(main, h("main", children));
}

/** The server does not answer, or has no room now. */
const isAway = ({ status }) => status === 0 || status === 503;

function failed(error) {
	if (error.status === 401) return noToken();
	if (error.status === undefined) console.error(error);
	// While the server is away, what was known stays.
	if (isAway(error) && data !== null) return;
	document.title = "Not shown · Towpath";
	put(h("h1", error.status === 404 ? "Not found" : "This cannot be shown"), h("p", { role: "alert" }, error.message), h("p", h("a", { href: "/" }, "All runs")));
}

function noToken() {
	document.title = "No token · Towpath";
	put(h("h1", "This tab has no token"),
		h("p", "Your runs are shown only to a tab that was opened with the server's own address. In a terminal, run:"),
		h("p", h("code", "towpath ui --print-url")), h("p", "and open the address that it prints."));
}

async function navigate(address, replace = false) {
	if (replace) history.replaceState(null, "", address);
	else {
		history.replaceState({ top: scrollY }, "");
		history.pushState(null, "", address);
	}
	await show();
	if (replace || location.pathname !== address.split("?")[0]) return;
	scrollTo(0, 0);
	main.focus({ preventScroll: true });
}

document.onclick = document.onauxclick = (event) => {
	const href = event.target.closest?.("a[href]:not([download])")?.getAttribute("href");
	if (!href || event.button > 1 || href.startsWith("#")) return;
	event.preventDefault();
	if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) open(openingAddress(href), "_blank", "noopener");
	else navigate(href);
};

addEventListener("popstate", async ({ state }) => {
	await show();
	scrollTo(0, state?.top ?? 0);
});

addEventListener("hashchange", () => takeToken() && location.reload());

function showConnection({ state, lost }) {
	const node = document.getElementById("connection");
	const words = {
		refused: "refused: this token is another server's",
		reconnecting: `reconnecting since ${lost}, showing what was known at ${lost}`,
	};
	node.className = state;
	node.textContent = words[state] ?? state;
	if (state === "refused") noToken();
}

async function begin() {
	try {
		await takeCode();
		if (!token()) return noToken();
		page.server = await get("server");
	} catch (error) {
		failed(error);
		if (isAway(error)) setTimeout(begin, 1000);
		return;
	}
	const { version, read_only, seq } = page.server;
	document.documentElement.classList.toggle("read-only", read_only);
	document.getElementById("server").textContent = `Towpath ${version}${read_only ? " · read-only: this page starts, resumes and ends nothing" : ""}`;
	// Nothing between the first view and the socket is missed.
	const connection = new Connection(seq);
	connection.addEventListener("state", () => showConnection(connection));
	connection.addEventListener("change", ({ detail }) => {
		document.dispatchEvent(new CustomEvent("towpath", { detail }));
		if (detail.kind === "reset" || route?.screen?.wants(detail, route)) refresh();
	});
	showConnection(connection);
	watchQuestions(page);
	await show();
}

takeToken();
listenToKeys(page);
document.getElementById("help").onclick = showHelp;
setInterval(tick, 1000);
begin();
