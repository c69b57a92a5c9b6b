// The room takes a little of the chosen cover's colour. Two layers take turns, so that only their opacity changes, which
// costs little; the colour is read from a picture drawn eight by eight.

const layers = [...document.querySelectorAll(".ambient")];
const canvas = document.createElement("canvas");
canvas.width = canvas.height = 8;
const context = canvas.getContext("2d", { willReadFrequently: true });
/** While somebody goes through many covers the room stays as it is, for so many milliseconds after the last. */
const rest = 220;
let wanted = null, front = 0, timer = 0;

/** @param {HTMLImageElement | null} picture */
export function tintFrom(picture) {
  if (!picture) layers[front].classList.remove("lit");
  if (picture === wanted?.picture && picture?.src === wanted?.address) return;
  wanted = { picture, address: picture?.src };
  const asked = wanted;
  clearTimeout(timer);
  timer = setTimeout(() => {
    // The picture may have become another album's meanwhile.
    if (asked !== wanted || !picture || picture.src !== asked.address) return;
    const colour = average(picture);
    if (colour) turn(colour);
  }, rest);
}

function turn(colour) {
  layers[front].classList.remove("lit");
  front = 1 - front;
  layers[front].style.setProperty("--tint", colour);
  layers[front].classList.add("lit");
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
    return `rgb(${sum.map((value) => Math.round(value / weights)).join(" ")})`;
  } catch {
    return null; // not a picture that can be drawn
  }
}
