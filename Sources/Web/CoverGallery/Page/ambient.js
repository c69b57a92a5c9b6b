// The page's background takes a little of the chosen cover's average colour. The colour changes in steps and only while the
// covers rest: each step repaints the whole window, and a separate layer that fades would slow down every frame of a scroll.

const canvas = document.createElement("canvas");
canvas.width = canvas.height = 8;
const context = canvas.getContext("2d", { willReadFrequently: true });
/** The time without movement before the colour changes, and the time between two steps, in milliseconds. */
const restDelay = 220, stepDelay = 70;
const steps = 12;
let wanted = null, timer = 0;
let shown = [0, 0, 0, 0], from = shown, to = shown, step = steps; // red, green, blue, opacity

/** @param {HTMLImageElement | null} picture */
export function tintFrom(picture) {
  if (picture === wanted?.picture && picture?.src === wanted?.address) return;
  wanted = { picture, address: picture?.src };
  step = 0;
  schedule(restDelay);
}

/** Called while covers move: delays the change until they rest. */
export function postponeTint() {
  if (step < steps) schedule(restDelay);
}

function schedule(delay) {
  clearTimeout(timer);
  timer = setTimeout(takeStep, delay);
}

function takeStep() {
  if (step === 0 && !begin()) return void (step = steps);
  const share = ++step / steps;
  shown = from.map((value, channel) => value + (to[channel] - value) * share);
  const [red, green, blue, light] = shown;
  document.body.style.setProperty("--tint", `rgb(${red} ${green} ${blue})`);
  document.body.style.setProperty("--light", String(light));
  if (step < steps) schedule(stepDelay);
}

/** False if there is no colour to change to. */
function begin() {
  const { picture, address } = wanted;
  // The view may show another album by now.
  if (picture && picture.src !== address) return false;
  const colour = picture && average(picture);
  if (picture && !colour) return false;
  to = colour ? [...colour, 1] : [...shown.slice(0, 3), 0];
  from = shown[3] ? shown : [...to.slice(0, 3), 0];
  return true;
}

/** The average colour. Saturated pixels count more: viewers remember a cover by them. Null if the picture cannot be drawn. */
function average(picture) {
  try {
    context.clearRect(0, 0, 8, 8);
    context.drawImage(picture, 0, 0, 8, 8);
    const { data } = context.getImageData(0, 0, 8, 8);
    const sum = [0, 0, 0];
    let weights = 0;
    for (let n = 0; n < data.length; n += 4) {
      const pixel = [data[n], data[n + 1], data[n + 2]];
      const weight = 0.05 + (Math.max(...pixel) - Math.min(...pixel)) / 255;
      pixel.forEach((value, channel) => (sum[channel] += value * weight));
      weights += weight;
    }
    return sum.map((value) => value / weights);
  } catch {
    return null;
  }
}
