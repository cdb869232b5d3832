import { ask } from "./ask.js";
import { Figure } from "./figure.js";
import { sure } from "./sure.js";
import { rule } from "./words.js";

// Sheet shows one limit, and changes what overrides it where that is allowed.
export class Sheet {
	#dialog;
	#form;
	#figure;
	#id = "";
	#told = { limits: [], edit: false };
	#tag = ""; // of the override that the form was filled with; empty if it could not be read

	constructor(dialog) {
		this.#dialog = dialog;
		this.#form = dialog.querySelector("form");
		this.#figure = new Figure(dialog.querySelector("figure"));
		dialog.querySelector("#close").addEventListener("click", () => dialog.close());
		dialog.querySelector("#remove").addEventListener("click", (e) => {
			if (sure(e.currentTarget, "Really remove")) this.#send("DELETE");
		});
		this.#form.addEventListener("submit", (e) => {
			e.preventDefault();
			if (this.#tag) this.#save();
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
		const id = this.#id;
		const answer = await ask("GET", this.#url());
		if (id !== this.#id) return; // another limit was opened meanwhile
		if (answer.status === 403) {
			note.textContent = answer.error;
			return;
		}
		this.#tag = answer.tag ?? "";
		const override = answer.body ?? {};
		const fields = this.#form.elements;
		for (const name of ["count", "time", "burst", "mode", "fail"]) fields[name].value = override[name] ?? "";
		fields.callers.value = override.callers ? JSON.stringify(override.callers, null, 2) : "";
		this.#form.querySelector("details").open = !!override.callers;
		// What cannot be read can be removed: it may be why.
		for (const e of this.#form.querySelectorAll(".fields, details, .main")) e.hidden = !!answer.error;
		this.#form.hidden = false;
		this.#answer(answer.error ?? "", !!answer.error);
	}

	#url() {
		return `override?limit=${encodeURIComponent(this.#id)}`;
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
		if (override.mode === "off" && !sure(this.#form.querySelector(".main"), "Really off")) {
			this.#answer("No call will be limited.", true);
			return;
		}
		this.#send(Object.keys(override).length ? "PUT" : "DELETE", override);
	}

	async #send(method, override) {
		const id = this.#id;
		this.#answer("Saving");
		const answer = await ask(method, this.#url(), override, this.#tag);
		if (id !== this.#id) return; // another limit was opened meanwhile
		if (answer.error) {
			this.#answer(answer.error, true);
			return;
		}
		await this.#load();
		this.#answer(answer.note ?? (method === "PUT" ? "Saved." : "The directive holds again."), !!answer.note);
	}

	#answer(text, bad = false) {
		const p = this.#dialog.querySelector("#answer");
		p.textContent = text;
		p.classList.toggle("bad", bad);
	}
}
