// SHA-256 in hexadecimal digits. Browsers have their own only where a page comes over TLS or loopback.

const ROUNDS = Array.from({ length: 64 }, () => 0);
const START = Array.from({ length: 8 }, () => 0);

/** The first bits behind the point of the roots of the first primes. */
const root = (prime, power) => (prime ** power % 1) * 2 ** 32 | 0;
for (let number = 2, at = 0; at < 64; number += 1) {
	let prime = true;
	for (let by = 2; by * by <= number; by += 1) prime &&= number % by !== 0;
	if (!prime) continue;
	ROUNDS[at] = root(number, 1 / 3);
	if (at < 8) START[at] = root(number, 1 / 2);
	at += 1;
}

const turned = (word, by) => (word >>> by) | (word << (32 - by));

export function sha256(text) {
	const bytes = new TextEncoder().encode(text);
	const blocks = new DataView(new ArrayBuffer(64 * Math.ceil((bytes.length + 9) / 64)));
	bytes.forEach((byte, at) => blocks.setUint8(at, byte));
	blocks.setUint8(bytes.length, 0x80);
	blocks.setUint32(blocks.byteLength - 4, bytes.length * 8);
	let state = START;
	for (let at = 0; at < blocks.byteLength; at += 64) {
		const words = Array.from({ length: 16 }, (_, word) => blocks.getInt32(at + 4 * word));
		let [a, b, c, d, e, f, g, last] = state;
		for (let round = 0; round < 64; round += 1) {
			if (round > 15) {
				const [two, fifteen] = [words[round - 2], words[round - 15]];
				const first = turned(fifteen, 7) ^ turned(fifteen, 18) ^ (fifteen >>> 3);
				const second = turned(two, 17) ^ turned(two, 19) ^ (two >>> 10);
				words[round] = (words[round - 16] + first + words[round - 7] + second) | 0;
			}
			const one = last + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[round] + words[round];
			const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
			[a, b, c, d, e, f, g, last] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
		}
		state = [a, b, c, d, e, f, g, last].map((word, index) => (word + state[index]) | 0);
	}
	return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
