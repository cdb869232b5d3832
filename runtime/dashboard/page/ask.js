const patience = 10_000; // milliseconds

// ask returns what an answer says: its body and tag, or a note on what came of a change, or in words why there is none.
export async function ask(method, url, body, seen) {
	try {
		const init = { method, headers: {}, cache: "no-store", signal: AbortSignal.timeout(patience) };
		if (body) {
			init.headers["Content-Type"] = "application/json";
			init.body = JSON.stringify(body);
		}
		if (seen) init.headers["If-Match"] = seen;
		const response = await fetch(url, init);
		const text = await response.text();
		const status = response.status;
		if (!response.ok) return { status, error: text.trim() || response.statusText };
		if (status === 202) return { status, note: text.trim() };
		return { status, body: text ? JSON.parse(text) : null, tag: response.headers.get("ETag") };
	} catch (e) {
		return { error: `The program does not answer: ${e.message}` };
	}
}
