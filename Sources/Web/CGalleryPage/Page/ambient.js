// The page's background takes a little of the chosen cover's average colour, once the covers rest: a change repaints the whole window. The
// style sheet has the way from one colour to the next.

const canvas = document.createElement("canvas");
canvas.width = canvas.height = 8;
const context = canvas.getContext("2d", { willReadFrequently: true });
/** The time without movement before the colour changes, in milliseconds. */
const restDelay = 220;
let wanted = null, timer = 0;

/** @param {HTMLImageElement | null} picture */
export function tintFrom(picture) {
  if (picture === wanted?.picture && picture?.src === wanted?.address) return;
  wanted = { picture, address: picture?.src };
  schedule();
}

/** Called while covers move: delays the change until they rest. */
export function postponeTint() {
  if (timer) schedule();
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(change, restDelay);
}

function change() {
  timer = 0;
  const { picture, address } = wanted, colour = picture && average(picture);
  // The view may show another album by now.
  if (picture && (!colour || picture.src !== address)) return;
  document.body.style.setProperty("--tint", colour ? `rgb(${colour.join(" ")})` : "transparent");
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
