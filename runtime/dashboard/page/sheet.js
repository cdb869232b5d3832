import { ask } from "./ask.js";
import { Figure } from "./figure.js";
import { rule } from "./words.js";

// Sheet shows one limit, and changes what overrides it where that is allowed.
export class Sheet {
	#dialog;
	#form;
	#figure;
	#id = "";
	#told = { limits: [], edit: false };
	#override = {}; // of the limit, as the store has it

	constructor(dialog) {
		this.#dialog = dialog;
		this.#form = dialog.querySelector("form");
		this.#figure = new Figure(dialog.querySelector("figure"));
		dialog.querySelector("#close").addEventListener("click", () => dialog.close());
		dialog.querySelector("#remove").addEventListener("click", () => this.#send("DELETE"));
		this.#form.addEventListener("submit", (e) => {
			e.preventDefault();
			this.#save();
		});
	}

	limits(told) {
		this.#told = told;
		this.#describe();
	}

	redraw(series, last) {
		if (this.#dialog.open) this.#figure.draw(series.get(this.#id) ?? [], last);
	}

	async open(id, series, last) {
		this.#id = id;
		this.#form.hidden = true;
		this.#describe();
		this.#dialog.showModal();
		this.redraw(series, last);
		await this.#load();
	}

	#limit() {
		return this.#told.limits.find((l) => l.id === this.#id);
	}

	#describe() {
		const l = this.#limit();
		if (!l) return;
		const whole = (r) => `${rule(r, l.algorithm)}, ${l.algorithm}, mode ${r.mode}${r.fail ? `, fail ${r.fail}` : ""}`;
		this.#dialog.querySelector("h2").textContent = `${l.method || "Limiter.Allow"} ${l.name}`;
		this.#dialog.querySelector("#limit-rule").textContent = l.directive
			? `Holds: ${whole(l.holds)}. Directive: ${whole(l.directive)}.`
			: `Directive: ${whole(l.holds)}.`;
		const said = l.directive ?? l.holds;
		const fields = this.#form.elements;
		fields.count.placeholder = said.count;
		fields.time.placeholder = said.time;
		fields.burst.placeholder = said.burst || said.count;
		fields.burst.closest("label").hidden = !["token-bucket", "leaky-bucket"].includes(l.algorithm);
	}

	// load shows the form if whoever looks on may change the limit.
	async #load() {
		const note = this.#dialog.querySelector("#no-edit");
		note.textContent = "";
		if (!this.#told.edit || !this.#limit()?.edit) {
			note.textContent = this.#told.edit ? "This limit comes with each call and cannot be changed here." : "Limits cannot be changed here.";
			return;
		}
		const answer = await ask("GET", "overrides");
		if (answer.error) {
			note.textContent = answer.error;
			return;
		}
		this.#override = answer.body.limits?.[this.#id] ?? {};
		const fields = this.#form.elements;
		for (const name of ["count", "time", "burst", "mode", "fail"]) fields[name].value = this.#override[name] ?? "";
		fields.callers.value = this.#override.callers ? JSON.stringify(this.#override.callers, null, 2) : "";
		this.#form.querySelector("details").open = !!this.#override.callers;
		this.#form.hidden = false;
		this.#answer("");
	}

	#save() {
		const fields = this.#form.elements;
		const override = {};
		for (const name of ["count", "burst"]) if (fields[name].value) override[name] = Number(fields[name].value);
		for (const name of ["time", "mode", "fail"]) if (fields[name].value) override[name] = fields[name].value;
		if (fields.callers.value.trim()) {
			try {
				override.callers = JSON.parse(fields.callers.value);
			} catch (e) {
				this.#answer(`For some callers: ${e.message}`, true);
				return;
			}
		}
		this.#send(Object.keys(override).length ? "PUT" : "DELETE", override);
	}

	async #send(method, override) {
		this.#answer("Saving");
		const answer = await ask(method, `override?limit=${encodeURIComponent(this.#id)}`, override);
		if (answer.error) {
			this.#answer(answer.error, true);
			return;
		}
		await this.#load();
		this.#answer(method === "PUT" ? "Saved." : "The directive holds again.");
	}

	#answer(text, bad = false) {
		const p = this.#dialog.querySelector("#answer");
		p.textContent = text;
		p.classList.toggle("bad", bad);
	}
}
