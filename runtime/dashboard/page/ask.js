const patience = 10_000; // milliseconds

// ask returns the body of an answer, or in words why there is none.
export async function ask(method, url, body) {
	try {
		const init = { method, headers: {}, cache: "no-store", signal: AbortSignal.timeout(patience) };
		if (body) {
			init.headers["Content-Type"] = "application/json";
			init.body = JSON.stringify(body);
		}
		const response = await fetch(url, init);
		const text = await response.text();
		if (!response.ok) return { error: text.trim() || response.statusText };
		return { body: text ? JSON.parse(text) : null };
	} catch (e) {
		return { error: `The program does not answer: ${e.message}` };
	}
}
