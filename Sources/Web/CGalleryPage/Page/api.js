// Requests to the server. All failures are thrown as a `Problem` whose message is one line for users.

import { sentence } from "./helpers.js";

export class Problem extends Error {
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

/** @param {object | Blob} [body] a blob is sent as it is @param {RequestInit} [more] */
export async function ask(method, path, body, more = {}) {
  const request = { method, ...more };
  if (method !== "GET") {
    const isFile = body instanceof Blob;
    request.headers = { "Content-Type": isFile ? "application/octet-stream" : "application/json" };
    request.body = isFile ? body : JSON.stringify(body ?? {});
  }
  let response, answer;
  try {
    response = await fetch(path, request);
    answer = response.status === 204 ? null : await response.json().catch(() => null);
  } catch {
    throw new Problem("Sleeve does not answer.");
  }
  // Without an error of Sleeve's in it, this is a proxy's answer for a server that is away.
  if ([502, 503, 504].includes(response.status) && !answer?.error) throw new Problem("Sleeve does not answer.");
  if (response.status === 401) signIn();
  if (!response.ok) {
    const { error, field } = answer ?? {}, { status } = response;
    // A proxy may have a lower limit, and its answer is not in JSON.
    const other = status === 413 ? "The picture is larger than the server accepts (413)." : `The server answered with status ${status}.`;
    throw new Problem(error ?? other, { status, field });
  }
  return answer;
}

/** The ids of the albums that a filter shows, as they are now. */
export async function idsOf(filter) {
  return Object.keys((await ask("GET", `api/filters/${encodeURIComponent(filter)}`, undefined, { cache: "no-store" })).albums);
}

/**
 * Leaves for the server's form that takes a token. The service worker does not answer an address with a query, and without a token in it
 * the server does not answer with the page. The form and the page after it keep the place in the address. A dialog stays open: it may have
 * text that is not saved, and it shows the problem.
 */
function signIn() {
  if (!document.querySelector("dialog:modal")) location.replace(`?token=${location.hash}`);
}
