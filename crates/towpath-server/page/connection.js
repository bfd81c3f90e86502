// The one socket of this tab. After a break it asks for all that came since. Another program may answer by
// then: who gets the token proves first that it knows it.

import { link, token } from "./api.js";
import { sha256 } from "./sha256.js";
import { exactClock } from "./words.js";

const SOONEST = 250;
const LATEST = 2000;
/** The server sends something every ten seconds: after this long without it, it is lost. */
const SILENCE = 25_000;

export class Connection extends EventTarget {
	#since;
	#pause = SOONEST;
	#silence = null;
	state = "connecting";
	lost = null;

	constructor(since) {
		super();
		this.#since = since;
		this.#open();
	}

	#open() {
		const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/v1/events`);
		const nonce = crypto.getRandomValues(new Uint32Array(4)).join();
		const send = (message) => socket.send(JSON.stringify(message));
		const show = () => send({ token: token() ?? "", since: this.#since });
		let proven = false;
		const alive = () => {
			clearTimeout(this.#silence);
			this.#silence = setTimeout(() => {
				socket.onclose = socket.onmessage = null;
				socket.close();
				this.#closed();
			}, SILENCE);
		};
		alive();
		socket.onopen = () => send({ nonce });
		socket.onmessage = ({ data }) => {
			alive();
			const message = JSON.parse(data);
			if (proven) return this.#take(message);
			proven = message.kind === "proof" && message.proof === sha256(`${token()}:${nonce}`);
			if (proven) show();
			else socket.close(this.#closed(4401));
		};
		socket.onclose = ({ code }) => this.state === "refused" || this.#closed(code);
	}

	#take(message) {
		this.#pause = SOONEST;
		if (message.kind === "hello") {
			this.lost = null;
			link.up = true;
			this.#turn("live");
			return;
		}
		if (message.kind === "tick") return;
		this.#since = message.seq;
		this.dispatchEvent(new CustomEvent("change", { detail: message }));
	}

	#closed(code) {
		clearTimeout(this.#silence);
		link.up = false;
		if (code === 4401) return this.#turn("refused");
		this.lost ??= exactClock(new Date());
		this.#turn("reconnecting");
		setTimeout(() => this.#open(), this.#pause);
		this.#pause = Math.min(this.#pause * 2, LATEST);
	}

	#turn(state) {
		this.state = state;
		this.dispatchEvent(new Event("state"));
	}
}
