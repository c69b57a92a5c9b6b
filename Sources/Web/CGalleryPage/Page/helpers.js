// Short helpers that several modules share.

export const byID = (id) => document.getElementById(id);

/** The path of the page, such as "/" or "/sleeve/". */
const base = new URL("./", location).pathname;

/** A name in the browser's storage, which all pages of the origin share: galleries below different paths keep apart. */
export const storageName = (name) => (base === "/" ? name : `${name} ${base}`);

export const formatNumber = new Intl.NumberFormat().format;
export const formatShort = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 }).format;

/** A size in bytes with the units of the command line. */
export function formatBytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; count >= 1024 && unit < units.length - 1; unit++) count /= 1024;
  return `${formatShort(count)} ${units[unit]}`;
}

/** A text with a capital at its beginning, unless it begins with a URL or another name. */
export function sentence(text) {
  return /^\p{Ll}[\p{Ll}'’]*(?=[\s,.;]|$)/u.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
}

export const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run, 500));
