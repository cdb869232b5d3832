import { CALLS, REFUSED, LOOKED, FAILED } from "./words.js";

const svg = "http://www.w3.org/2000/svg";

// draw shows the last seconds of points: calls that went on, on these what was refused, as a line what would have been, and in
// which seconds the store failed. It returns the figure at the upper edge.
export function draw(chart, points, seconds) {
	const shown = points.slice(-seconds);
	const top = nice(Math.max(1, ...shown.map((p) => Math.max(p[CALLS], p[LOOKED]))));
	const y = (n) => (100 - (100 * n) / top).toFixed(1);
	const x = (i) => seconds - shown.length + i;
	const line = (height) => shown.map((p, i) => `${x(i)},${y(height(p))}`).join("L");
	const area = (above, below) => {
		const back = shown.map((p, i) => `${x(i)},${y(below(p))}`).reverse().join("L");
		return shown.length ? `M${line(above)}L${back}Z` : "";
	};
	chart.setAttribute("viewBox", `0 0 ${seconds - 1} 100`);
	chart.setAttribute("preserveAspectRatio", "none");
	path(chart, "failed", shown.map((p, i) => (p[FAILED] ? `M${x(i) - 0.5},0h1v100h-1Z` : "")).join(""));
	path(chart, "calls", area((p) => p[CALLS] - p[REFUSED], () => 0));
	path(chart, "refused", area((p) => p[CALLS], (p) => p[CALLS] - p[REFUSED]));
	path(chart, "looked", shown.some((p) => p[LOOKED]) ? `M${line((p) => p[LOOKED])}` : "");
	return top;
}

export function path(chart, name, d) {
	let path = chart.querySelector(`.${name}`);
	if (!path) {
		path = document.createElementNS(svg, "path");
		path.setAttribute("class", name);
		chart.append(path);
	}
	path.setAttribute("d", d);
}

// nice returns the next number that is easy to read.
function nice(n) {
	const power = 10 ** Math.floor(Math.log10(n));
	return [1, 2, 3, 4, 5, 6, 8, 10].find((m) => m * power >= n) * power;
}
