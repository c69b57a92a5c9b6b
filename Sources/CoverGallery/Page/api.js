// Requests to the server. All failures are thrown as a `Problem` whose message is one line for users.

import { sentence } from "./helpers.js";

export class Problem extends Error {
  /** @param {string} message @param {{status?: number, field?: string}} [more] */
  constructor(message, { status = 0, field } = {}) {
    super(sentence(message));
    this.status = status;
    this.field = field;
  }

  /** The server did not answer at all. */
  get away() { return this.status === 0; }
}

/** Identifies this page to the server; new for every load. `randomUUID` is not available over plain HTTP. */
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
