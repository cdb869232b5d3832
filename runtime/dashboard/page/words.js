// A point is what was counted in a second.
export const [CALLS, REFUSED, LOOKED, FAILED] = [0, 1, 2, 3];

// sum adds up the figures of the last seconds.
export function sum(points, seconds) {
	const total = [0, 0, 0, 0];
	for (const p of points.slice(-seconds)) p.forEach((n, i) => (total[i] += n));
	return total;
}

const integers = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const number = (n) => (n < 100000 ? integers : short).format(n);

export function share(part, whole) {
	if (!part || !whole) return "";
	const percent = (100 * part) / whole;
	return percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}

// words say what a point is, or a sum of points.
export function words([calls, refused, looked, failed], when = "") {
	let text = `${number(calls)} calls${when}, ${number(refused)} refused`;
	if (looked) text += `, ${number(looked)} refused in shadow`;
	return failed ? `${text}, ${number(failed)} store errors` : text;
}

export const lastMinute = (points) => words(sum(points, 60), " in the last minute");

// rule says in words what holds.
export function rule(r, algorithm) {
	if (algorithm === "concurrency") return `${number(r.count)} at once`;
	return `${number(r.count)} per ${r.time}${r.burst ? `, burst ${number(r.burst)}` : ""}`;
}

export const clock = (t) => new Date(t).toLocaleTimeString("en-GB");

// duration writes microseconds.
export function duration(us) {
	if (us < 100) return `${us} µs`;
	return us < 1e6 ? `${Number((us / 1000).toPrecision(2))} ms` : `${Number((us / 1e6).toPrecision(2))} s`;
}
