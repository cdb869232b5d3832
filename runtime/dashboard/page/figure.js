import { draw, path } from "./chart.js";
import { clock, lastMinute, number, words } from "./words.js";

export const kept = 300; // seconds

// Figure is a large chart, which says what was counted in the second that a pointer is at.
export class Figure {
	#label;
	#chart;
	#points = [];
	#last = 0; // when the last second was, in milliseconds since 1970
	#scale = "";
	#at = -1; // the second that the pointer is at, from the left; -1 if it is elsewhere

	constructor(figure) {
		this.#label = figure.querySelector(".top");
		this.#chart = figure.querySelector("svg");
		this.#chart.addEventListener("pointermove", (e) => {
			const box = this.#chart.getBoundingClientRect();
			this.#point(Math.round(((e.clientX - box.left) / box.width) * (kept - 1)));
		});
		this.#chart.addEventListener("pointerleave", () => this.#point(-1));
	}

	draw(points, last) {
		[this.#points, this.#last] = [points, last];
		this.#scale = `${number(draw(this.#chart, points, kept))} a second`;
		this.#chart.setAttribute("aria-label", lastMinute(points));
		this.#point(this.#at);
	}

	#point(at) {
		this.#at = at;
		const ago = kept - 1 - at;
		const point = at < 0 ? undefined : this.#points.at(-1 - ago);
		path(this.#chart, "pointer", point ? `M${at},0V100` : "");
		this.#label.textContent = point ? `${clock(this.#last - 1000 * ago)}: ${words(point)}` : this.#scale;
	}
}
