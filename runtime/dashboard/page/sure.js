// sure reports whether a button was pressed again after it asked for that, with what it says in the meantime. Once something
// else has the focus, it asks anew.
export function sure(button, text) {
	if (button.dataset.text) {
		forget(button);
		return true;
	}
	button.dataset.text = button.textContent;
	button.textContent = text;
	button.focus();
	button.addEventListener("blur", () => forget(button), { once: true });
	return false;
}

function forget(button) {
	if (button.dataset.text) button.textContent = button.dataset.text;
	delete button.dataset.text;
}
