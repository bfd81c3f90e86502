// Elements, and updating what is shown to what should be shown.

/** An HTML element: `h("p.faint", { title: "…" }, "text")`. Strings become text, never markup. */
export const h = (name, ...rest) => make("http://www.w3.org/1999/xhtml", name, rest);

export const svg = (name, ...rest) => make("http://www.w3.org/2000/svg", name, rest);

function make(kind, name, [first, ...children]) {
	const [tag, ...classes] = name.split(".");
	const node = document.createElementNS(kind, tag);
	if (classes.length > 0) node.setAttribute("class", classes.join(" "));
	const attributes = first && Object.getPrototypeOf(first) === Object.prototype;
	for (const [name, value] of Object.entries(attributes ? first : {})) {
		if (value === undefined || value === null || value === false) continue;
		if (name.startsWith("on")) node[name] = value;
		else node.setAttribute(name, value === true ? "" : value);
	}
	const content = attributes ? children : [first, ...children];
	node.append(...content.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
	return node;
}

const HANDLERS = ["onclick", "onchange", "oninput", "onsearch", "onsubmit", "ontoggle"];

/** Changes `from` into `to`; what is equal stays, with its focus. */
function morph(from, to) {
	if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || key(from) !== key(to)) {
		from.replaceWith(to);
		return;
	}
	if (from.nodeType !== Node.ELEMENT_NODE) {
		if (from.data !== to.data) from.data = to.data;
		return;
	}
	morphAttributes(from, to);
	for (const name of HANDLERS) if (from[name] !== to[name]) from[name] = to[name];
	// An element that draws itself changes by its attributes alone.
	if (!from.hasAttribute("data-own")) morphChildren(from, to);
}

function morphAttributes(from, to) {
	const before = from.getAttribute("value");
	// What the user opened stays open, and an element that draws itself may hide itself.
	const stays = (name) => name === "open" || (name === "hidden" && from.hasAttribute("data-own"));
	for (const { name } of [...from.attributes]) {
		if (!to.hasAttribute(name) && !stays(name)) from.removeAttribute(name);
	}
	for (const { name, value } of to.attributes) {
		if (from.getAttribute(name) === value || stays(name)) continue;
		// The attribute itself is refused by the server's policy.
		if (name === "style") from.style.cssText = value;
		else from.setAttribute(name, value);
	}
	// A field that the user has touched follows its attribute no more.
	if (before !== from.getAttribute("value") && from !== document.activeElement) from.value = to.value;
	if (from.nodeName === "OPTION") from.selected = to.selected;
}

export function morphChildren(from, to) {
	const keyed = new Map();
	for (const child of from.childNodes) if (key(child)) keyed.set(key(child), child);
	let at = from.firstChild;
	for (const wanted of [...to.childNodes]) {
		const known = key(wanted) && keyed.get(key(wanted));
		if (known && known !== at) from.insertBefore(known, at);
		if (known) {
			keyed.delete(key(wanted));
			at = known;
		}
		if (at && (known || !key(at))) {
			const next = at.nextSibling;
			morph(at, wanted);
			at = next;
		} else {
			from.insertBefore(wanted, at);
		}
	}
	while (at) {
		const next = at.nextSibling;
		at.remove();
		at = next;
	}
}

const key = (node) => node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") : null;
