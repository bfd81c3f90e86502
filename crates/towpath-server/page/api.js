// Requests. The token comes with the address, behind the `#`, and stays in this tab.

import { sha256 } from "./sha256.js";

const TOKEN = "towpath-token";

/** Whether the address had one. */
export function takeToken() {
	const given = /^#t=([0-9a-f]+)$/.exec(location.hash);
	if (!given) return false;
	sessionStorage.setItem(TOKEN, given[1]);
	history.replaceState(history.state, "", location.pathname + location.search);
	return true;
}

/** An address with a code leads to the token once: `/open/CODE/run/7f3k`. */
export async function takeCode() {
	const [, code, path] = /^\/open\/([^/]+)(.*)$/.exec(location.pathname) ?? [];
	if (!code) return;
	const answer = await post("token", { code }).catch((error) => (error.status === 401 ? {} : Promise.reject(error)));
	if (answer.token) sessionStorage.setItem(TOKEN, answer.token);
	history.replaceState(null, "", (path || "/") + location.search);
}

export const token = () => sessionStorage.getItem(TOKEN);

/** The address for another tab of this page: its browser keeps no token. */
export function openingAddress(href) {
	const made = `${Date.now()}-${crypto.getRandomValues(new Uint32Array(4)).reduce((text, word) => text + word.toString(16), "")}`;
	return `/open/${made}-${sha256(`open:${token()}:${made}`)}${href}`;
}

export class Refused extends Error {
	constructor(status, kind, message, more) {
		super(message);
		Object.assign(this, { status, kind, ...more });
	}
}

/** Whether the server is known to answer: nothing else gets the token. */
export const link = { up: true };
const noServer = () => new Refused(0, "no-server", "the server of this page does not answer");

async function ask(path, options) {
	if (!link.up) throw noServer();
	const headers = { Authorization: `Bearer ${token() ?? ""}`, ...options?.headers };
	let response;
	try {
		response = await fetch(`/api/v1/${path}`, { ...options, headers, cache: "no-store" });
	} catch {
		throw noServer();
	}
	if (response.ok) return response;
	const body = await response.json().catch(() => ({}));
	const message = body.error?.message ?? body.message ?? `the server answered ${response.status}`;
	throw new Refused(response.status, body.error?.kind ?? "refused", message, { command: body.command, run_id: body.run_id });
}

export async function get(path, query) {
	return (await ask(withQuery(path, query))).json();
}

export async function getText(path) {
	return (await ask(path)).text();
}

/** At most 1 MiB from `from`; a negative number counts from the end. */
export async function getBytes(run, output, from, to) {
	const path = withQuery(`runs/${run}/logs/${output}`, { from, to });
	const response = await ask(path);
	const number = (name) => Number(response.headers.get(name));
	return {
		bytes: new Uint8Array(await response.arrayBuffer()),
		from: number("Towpath-From"),
		size: number("Towpath-Size"),
		live: response.headers.get("Towpath-Live") === "true",
	};
}

export async function post(path, body) {
	const headers = { "Content-Type": "application/json" };
	return (await ask(path, { method: "POST", headers, body: JSON.stringify(body ?? {}) })).json();
}

/** Nothing for a value that is empty; a list is given several times. */
export function withQuery(path, query) {
	const parameters = new URLSearchParams();
	for (const [name, values] of Object.entries(query ?? {})) {
		for (const value of [values].flat()) {
			if (value !== undefined && value !== null && value !== "") parameters.append(name, value);
		}
	}
	const text = parameters.toString();
	return text ? `${path}?${text}` : path;
}

export const inAddress = (path) => path.split("/").map(encodeURIComponent).join("/");
