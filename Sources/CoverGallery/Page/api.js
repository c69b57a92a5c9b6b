// Asking the server. Whatever goes wrong comes out as a Problem whose message is one line for people.

export class Problem extends Error {
  /** @param {string} message begins with a capital here, however the server wrote it @param {{status?: number, field?: string}} [more] */
  constructor(message, { status = 0, field } = {}) {
    super(sentence(message));
    this.status = status;
    this.field = field;
  }

  /** The server did not answer at all. */
  get away() { return this.status === 0; }
}

/** A text with a capital at its beginning, unless that is a URL or another name. */
export function sentence(text) {
  return /^\p{Ll}[\p{Ll}'’]*(?=[\s,.;]|$)/u.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
}

/** Who this page is, to the server; new for every load. Not `randomUUID`, which plain HTTP in a home network lacks. */
export const pageID = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * @param {"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} method
 * @param {string} path
 * @param {object} [body]
 * @param {RequestInit} [more]
 */
export async function ask(method, path, body, more = {}) {
  const request = { method, ...more };
  if (method !== "GET") {
    request.headers = { "Content-Type": "application/json" };
    request.body = JSON.stringify(body ?? {});
  }
  let response, answer;
  try {
    response = await fetch(path, request);
    answer = response.status === 204 ? null : await response.json().catch(() => null);
  } catch {
    throw new Problem("Sleeve does not answer.");
  }
  if (!response.ok) {
    const { error, field } = answer ?? {};
    throw new Problem(error ?? `The server answered with status ${response.status}.`, { status: response.status, field });
  }
  return answer;
}
