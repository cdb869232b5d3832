import { ask } from "./ask.js";
import { sure } from "./sure.js";

const patience = 5000; // milliseconds until the store is asked again after it has not answered

// Stored shows what the store of overrides has beside those of the limits, to those who may change it: the mode of all, and
// entries that no limit has.
export class Stored {
	#form;
	#strays;
	#limits = new Set(); // ids
	#edit = false;
	#turn = 0; // of the last look
	#again; // the timer of the next look
	#mode = ""; // as it was stored at the last look
	#touched = false; // whether something else was chosen since

	constructor(form, strays) {
		[this.#form, this.#strays] = [form, strays];
		form.elements.mode.addEventListener("change", () => {
			this.#touched = form.elements.mode.value !== this.#mode;
			this.#say("");
		});
		form.addEventListener("submit", (e) => {
			e.preventDefault();
			this.#set();
		});
		const entry = strays.querySelector("form");
		entry.addEventListener("submit", (e) => {
			e.preventDefault();
			this.#remove(entry.elements.id.value.trim(), entry.querySelector("button"));
		});
	}

	limits(told) {
		this.#edit = told.edit;
		this.#limits = new Set(told.limits.map((l) => l.id));
		this.load();
	}

	// load shows what is stored now, but for a choice that is not set yet.
	async load() {
		clearTimeout(this.#again);
		if (!this.#edit) return;
		const turn = ++this.#turn;
		const answer = await ask("GET", "overrides");
		if (turn !== this.#turn) return; // another look has begun
		const may = answer.status !== 403;
		this.#form.hidden = !may;
		if (!may) {
			this.#strays.hidden = true;
			return;
		}
		if (answer.error) this.#again = setTimeout(() => this.load(), patience);
		else this.#show(answer.body.mode ?? "");
		this.#list(answer);
	}

	#show(mode) {
		if (mode !== this.#mode) this.#say("");
		this.#mode = mode;
		if (!this.#touched) this.#form.elements.mode.value = mode;
	}

	// #list shows entries that no limit has. If the store cannot be read, any can be removed: one of them may be why.
	#list(answer) {
		const ids = Object.keys(answer.body?.limits ?? {}).filter((id) => !this.#limits.has(id)).sort();
		this.#strays.hidden = !answer.error && ids.length === 0;
		this.#strays.querySelector("form").hidden = !answer.error;
		this.#strays.querySelector(".note").textContent = answer.error ?? "They are of other programs, or of limits that are gone.";
		const list = this.#strays.querySelector("ul");
		if (ids.join("\n") === [...list.querySelectorAll("code")].map((e) => e.textContent).join("\n")) return; // a button may be asking
		list.replaceChildren(
			...ids.map((id) => {
				const line = document.createElement("li");
				const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Remove" });
				button.setAttribute("aria-label", `Remove ${id}`);
				button.addEventListener("click", () => this.#remove(id, button));
				line.append(Object.assign(document.createElement("code"), { textContent: id }), button);
				return line;
			}),
		);
	}

	async #remove(id, button) {
		const status = this.#strays.querySelector("[role=status]");
		if (!id || !sure(button, "Really remove")) return;
		const answer = id === "mode" ? await ask("DELETE", "mode") : await ask("DELETE", `override?limit=${encodeURIComponent(id)}`);
		status.textContent = answer.error ?? answer.note ?? `${id} was removed.`;
		status.classList.toggle("bad", !!answer.error);
		await this.load();
	}

	async #set() {
		const mode = this.#form.elements.mode.value;
		if (mode === "off" && !sure(this.#form.querySelector("button"), "Really off")) {
			this.#say("No call will be limited.", true);
			return;
		}
		this.#say("Setting");
		const answer = mode ? await ask("PUT", "mode", mode) : await ask("DELETE", "mode");
		if (!answer.error) {
			this.#touched = false;
			await this.load();
		}
		this.#say(answer.error ?? answer.note ?? (mode ? "Set." : "As the program says."), !!(answer.error ?? answer.note));
	}

	#say(text, bad = false) {
		const status = this.#form.querySelector("[role=status]");
		status.textContent = text;
		status.classList.toggle("bad", bad);
	}
}
