// What the page needs before anything else, asked for while its other modules are still on their way.

import { ask } from "./api.js";

export const firstLibrary = ask("GET", "/api/library");
export const firstState = ask("GET", "/api/state").catch(() => null);
firstLibrary.catch(() => {}); // whoever waits for it hears of it
