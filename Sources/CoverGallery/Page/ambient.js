// The room takes a little of the chosen cover's colour, read from a picture drawn eight by eight. The colour is the page's
// background, and changes in steps while the covers rest: each draws the whole window anew, and a layer of its own that
// fades would cost every frame of a scroll something.

const canvas = document.createElement("canvas");
canvas.width = canvas.height = 8;
const context = canvas.getContext("2d", { willReadFrequently: true });
/** While somebody goes through many covers the room stays as it is, for so many milliseconds after the last. */
const rest = 220;
const steps = 12, pace = 70; // milliseconds
let wanted = null, timer = 0;
let shown = [0, 0, 0, 0], from = shown, to = shown, step = steps; // red, green, blue, and how much of it

/** @param {HTMLImageElement | null} picture */
export function tintFrom(picture) {
  if (picture === wanted?.picture && picture?.src === wanted?.address) return;
  wanted = { picture, address: picture?.src };
  step = 0;
  postpone(rest);
}

/** Covers are moving: the room waits until they rest. */
export function postponeTint() {
  if (step < steps) postpone(rest);
}

function postpone(time) {
  clearTimeout(timer);
  timer = setTimeout(take, time);
}

/** Takes one step. */
function take() {
  if (step === 0 && !begin()) return void (step = steps);
  const share = ++step / steps;
  shown = from.map((value, channel) => value + (to[channel] - value) * share);
  const [red, green, blue, light] = shown;
  document.body.style.setProperty("--tint", `rgb(${red} ${green} ${blue})`);
  document.body.style.setProperty("--light", String(light));
  if (step < steps) postpone(pace);
}

/** False when there is nothing to change to. */
function begin() {
  const { picture, address } = wanted;
  // The picture may have become another album's meanwhile.
  if (picture && picture.src !== address) return false;
  const colour = picture && average(picture);
  if (picture && !colour) return false;
  to = colour ? [...colour, 1] : [...shown.slice(0, 3), 0];
  from = shown[3] ? shown : [...to.slice(0, 3), 0];
  return true;
}

/** The average, with lively pixels counting for more: that is the colour people remember a cover by. */
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
    return null; // not a picture that can be drawn
  }
}
