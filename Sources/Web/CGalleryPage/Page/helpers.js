// Short helpers that several modules share.

export const byID = (id) => document.getElementById(id);

/** The path of the page, such as "/" or "/sleeve/". */
const base = new URL("./", location).pathname;

/** A name in the browser's storage, which all pages of the origin share: galleries below different paths keep apart. */
export const storageName = (name) => (base === "/" ? name : `${name} ${base}`);

/** The address of a cover, relative to the page's: by its digest, with `?w=300` for a smaller picture. */
export const coverPath = (name) => `covers/${name}`;

export const formatNumber = new Intl.NumberFormat().format;
export const formatShort = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 }).format;

/** “1 album”, “2 albums”. */
export const counted = (number, one, many = `${one}s`) => `${formatNumber(number)} ${number === 1 ? one : many}`;

/** A size in bytes, as file managers tell it: a KB has 1,000. */
export function formatBytes(count) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  for (; count >= 1000 && unit < units.length - 1; unit++) count /= 1000;
  return `${formatShort(count)} ${units[unit]}`;
}

/** A text with a capital at its beginning, unless it begins with a URL or another name. */
export function sentence(text) {
  return /^\p{Ll}[\p{Ll}'’]*(?=[\s,.;]|$)/u.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
}

/** An element with these properties and what is in it. */
export function make(name, properties, ...content) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}

/** A person has chosen a file. */
export function onFile(chooser, run) {
  chooser.addEventListener("change", () => {
    if (chooser.files[0]) run(chooser.files[0]);
    chooser.value = ""; // so that the same file can be chosen again
  });
}

/**
 * Runs an asynchronous task when it is asked for: soon, but not twice within an interval, and never twice at the same time.
 * @param {number} interval between two beginnings, in milliseconds @returns {() => void} asks for it
 */
export function throttled(interval, run) {
  let timer = 0, ranAt = -Infinity, isRunning = false, isWanted = false;
  const ask = () => {
    isWanted = true;
    if (!isRunning && !timer) timer = setTimeout(start, Math.max(0, ranAt + interval - performance.now()));
  };
  const start = async () => {
    [timer, ranAt, isRunning, isWanted] = [0, performance.now(), true, false];
    await run();
    isRunning = false;
    if (isWanted) ask();
  };
  return ask;
}

export const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run, 500));
