import { ask } from "./ask.js";
import { draw } from "./chart.js";
import { Figure, kept } from "./figure.js";
import { Sheet } from "./sheet.js";
import { Stored } from "./stored.js";
import { sum, number, share, lastMinute, rule, clock, duration } from "./words.js";

const $ = (id) => document.getElementById(id);
let limits = [];
let series = new Map(); // points by the id of a limit, oldest first
let total = [];
let last = 0; // when the last second was
const rows = new Map(); // by id
const figure = new Figure($("total"));
const sheet = new Sheet($("limit"));
const stored = new Stored($("mode"), $("strays"));
let changed = ""; // when overrides were changed last
let order = { by: "id", down: false };

let stream;
let again; // the timer of the next attempt

// connect has figures come while the page is in view. A browser has six connections to a server over HTTP/1.1, and pages behind
// others would keep them all.
function connect() {
	clearTimeout(again);
	stream?.close();
	if (document.hidden) {
		live("connecting", "connecting");
		return;
	}
	stream = new EventSource("events");
	stream.onopen = () => live("live", "live");
	stream.onerror = ({ target }) => {
		if (target !== stream) return;
		live("lost", "no connection, trying again");
		if (stream.readyState === EventSource.CLOSED) again = setTimeout(connect, 2000); // after an answer that is no stream, it gives up
	};
	stream.addEventListener("limits", (e) => list(JSON.parse(e.data)));
	stream.addEventListener("history", (e) => remember(JSON.parse(e.data)));
	stream.addEventListener("second", (e) => tick(JSON.parse(e.data)));
}

function live(state, text) {
	if ($("live").dataset.state === state) return;
	$("live").dataset.state = state;
	$("live").textContent = text;
}

function list(told) {
	limits = told.limits;
	$("keys-note").textContent = told.clear
		? "About how often, in the last five minutes."
		: "About how often, in the last five minutes. Keys are hashed with a secret of this process.";
	$("all-mode").textContent = told.mode === "off" ? "all off" : `all in ${told.mode}`;
	$("all-mode").className = `badge ${told.mode}`;
	$("all-mode").hidden = told.mode === "enforce";
	const ids = new Set(limits.map((l) => l.id));
	for (const [id, row] of rows) {
		if (ids.has(id)) continue;
		row.remove();
		rows.delete(id);
	}
	limits.forEach(fill);
	arrange();
	sheet.limits(told);
	stored.limits(told);
}

function remember(told) {
	series = new Map(Object.entries(told.limits));
	total = told.total ?? [];
	last = told.time;
	redraw();
}

function tick(told) {
	const figures = new Map(told.limits.map(([i, ...point]) => [limits[i].id, point]));
	for (const { id } of limits) {
		if (!series.has(id)) series.set(id, []);
		push(series.get(id), figures.get(id) ?? [0, 0, 0, 0]);
	}
	push(total, told.total);
	last = told.time;
	redraw();
	$("took").replaceChildren(...(told.most ? [duration(told.median), small(`99%: ${duration(told.most)}`)] : ["–"]));
	keys(told.keys);
	servers(told.servers);
	news(told.news);
	const change = told.news.find((n) => n.kind === "overrides")?.at ?? "";
	if (change !== changed) stored.load();
	changed = change;
}

function push(points, point) {
	points.push(point);
	if (points.length > kept) points.shift();
}

// redraw shows the figures as they are now.
function redraw() {
	const [calls, refused, looked, failed] = sum(total, 60);
	$("calls").textContent = number(calls);
	$("refused").replaceChildren(number(refused), small(share(refused, calls)));
	$("looked").textContent = number(looked);
	$("failed").textContent = number(failed);
	figure.draw(total, last);
	for (const l of limits) figures(rows.get(l.id), series.get(l.id) ?? []);
	arrange();
	sheet.redraw(series, last);
}

// fill writes what a limit is into its row, and makes one if there is none.
function fill(l) {
	let row = rows.get(l.id);
	if (!row) {
		row = $("row").content.firstElementChild.cloneNode(true);
		row.dataset.limit = l.id;
		row.querySelector("button").addEventListener("click", () => sheet.open(l.id, series, last));
		rows.set(l.id, row);
		seen.observe(row);
	}
	row.querySelector(".name").replaceChildren(l.method || "Limiter.Allow", small(l.name));
	row.querySelector(".rule").textContent = `${rule(l.holds, l.algorithm)}, ${l.algorithm}`;
	const badges = [];
	if (l.directive) badges.push(badge("overridden", `directive: ${rule(l.directive, l.algorithm)}, ${l.directive.mode}`));
	if (l.callers) badges.push(badge("for some callers", `${l.callers} ${l.callers === 1 ? "entry" : "entries"} for some callers`, "callers"));
	if (l.holds.mode !== "enforce") badges.push(badge(l.holds.mode));
	row.querySelector(".badges").replaceChildren(...badges);
}

function badge(text, title = "", kind = text) {
	return Object.assign(document.createElement("span"), { className: `badge ${kind}`, textContent: text, title });
}

// seen knows which rows are in view: others need no chart.
const inView = new WeakSet();
const seen = new IntersectionObserver((entries) => {
	for (const { target, isIntersecting } of entries) {
		isIntersecting ? inView.add(target) : inView.delete(target);
		spark(target);
	}
});

function figures(row, points) {
	const [calls, refused, looked, failed] = sum(points, 60);
	row.points = points;
	row.sums = { calls, refused: refused + looked, failed };
	const cell = (name, n, ...more) => {
		const td = row.querySelector(`td.${name}`);
		td.replaceChildren(number(n), ...more);
		td.classList.toggle("some", n > 0);
	};
	cell("calls", calls);
	cell("refused", refused, small(refused ? share(refused, calls) : looked ? `${number(looked)} in shadow` : ""));
	cell("failed", failed);
	spark(row);
}

function spark(row) {
	if (!row.points || !inView.has(row)) return;
	const svg = row.querySelector("svg");
	draw(svg, row.points, 120);
	svg.setAttribute("aria-label", lastMinute(row.points));
}

// arrange sorts and filters the rows, but does not move them away under a pointer or the focus.
function arrange(now = false) {
	const text = $("find").value.trim().toLowerCase();
	for (const [id, row] of rows) row.hidden = !id.toLowerCase().includes(text);
	$("none").hidden = [...rows.values()].some((row) => !row.hidden);
	const nothing = rows.size ? `No limit has “${$("find").value.trim()}” in its name.` : "No limit yet: they are shown once their decorators are made.";
	if ($("none").textContent !== nothing) $("none").textContent = nothing; // or it would be read out again
	const body = $("rows");
	if (!now && body.childElementCount === rows.size && body.matches(":hover, :focus-within")) return;
	const value = (row) => (order.by === "id" ? row.dataset.limit : row.sums?.[order.by] ?? 0);
	const sorted = [...rows.values()].sort((a, b) => {
		const [x, y] = [value(a), value(b)];
		if (x === y) return a.dataset.limit < b.dataset.limit ? -1 : 1;
		return x < y === order.down ? 1 : -1;
	});
	if (sorted.some((row, i) => body.children[i] !== row)) body.replaceChildren(...sorted);
}

$("find").addEventListener("input", () => arrange());
for (const button of document.querySelectorAll("[data-sort]")) {
	button.addEventListener("click", () => {
		const by = button.dataset.sort;
		order = { by, down: order.by === by ? !order.down : by !== "id" };
		document.querySelector("[aria-sort]").removeAttribute("aria-sort");
		button.closest("th").setAttribute("aria-sort", order.down ? "descending" : "ascending");
		arrange(true);
	});
}

function keys(told) {
	$("no-keys").hidden = told.length > 0;
	document.querySelector(".keys").hidden = told.length === 0;
	const most = Math.max(1, ...told.map((k) => k.refused));
	$("keys").replaceChildren(
		...told.map((k) => {
			const row = document.createElement("tr");
			const key = Object.assign(document.createElement("code"), { textContent: k.key });
			const meter = Object.assign(document.createElement("meter"), { max: most, value: k.refused });
			meter.setAttribute("aria-hidden", "true");
			row.insertCell().append(key, small(k.limit));
			row.insertCell().append(number(k.refused), meter);
			return row;
		}),
	);
}

function servers(told) {
	const line = (s) => `${s.name || "The store"} ${s.away ? "is away since" : "is back since"} ${clock(s.since)}`;
	const item = (textContent, className) => Object.assign(document.createElement("li"), { textContent, className });
	const items = told.map((s) => item(line(s), s.away ? "away" : ""));
	$("servers").replaceChildren(...(told.length ? items : [item("No outage since the program began", "")]));
	const text = told.filter((s) => s.away).map((s) => `${line(s)}: calls are decided without it, as their limits say.`);
	const alerts = $("alerts");
	if (text.join("\n") === [...alerts.children].map((p) => p.textContent).join("\n")) return; // or it would be read out again
	alerts.replaceChildren(...text.map((t) => Object.assign(document.createElement("p"), { className: "alert", textContent: t })));
}

const kinds = {
	outage: (n) => [`${n.about || "The store"} ${n.bad ? "went away" : "is back"}`],
	overrides: (n) => [n.bad ? "Overrides could not be taken; the last good ones hold" : "Overrides were taken"],
	gone: () => ["Overrides are gone from where they were"],
	trouble: (n) => [`Trouble with ${n.about || "Limiter.Allow"}`],
};

function news(told) {
	$("news").replaceChildren(
		...told.map((n) => {
			const line = document.createElement("li");
			const at = Object.assign(document.createElement("time"), { dateTime: n.at, textContent: clock(n.at) });
			const text = document.createElement("span");
			text.append(...(kinds[n.kind]?.(n) ?? [n.kind]), n.times > 1 ? `, ${n.times} times` : "");
			if (n.bad) text.className = "bad";
			text.append(small(n.detail ?? (n.bad ? "The log says why." : "")));
			line.append(at, text);
			return line;
		}),
	);
}

function small(text) {
	return text ? Object.assign(document.createElement("small"), { textContent: text }) : "";
}

document.addEventListener("visibilitychange", connect);
connect();
