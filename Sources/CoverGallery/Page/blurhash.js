// Decodes a BlurHash: a picture as a few cosines, in some twenty characters (https://github.com/woltapp/blurhash, Algorithm.md). The
// page shows it until the picture is there.

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
/** The pixels of a side; the browser smooths them. */
const side = 16;

/** @param {string} hash @returns {HTMLCanvasElement | null} null if it is no BlurHash */
export function blurCanvas(hash) {
  const colours = componentsOf(hash);
  if (!colours) return null;
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  canvas.width = canvas.height = side;
  const image = context.createImageData(side, side);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) image.data.set(colourAt(colours, (x + 0.5) / side, (y + 0.5) / side), 4 * (y * side + x));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** The linear red, green and blue of each component, row by row. */
function componentsOf(hash) {
  const number = (from, to) => [...hash.slice(from, to)].reduce((sum, digit) => sum * 83 + digits.indexOf(digit), 0);
  const across = (number(0, 1) % 9) + 1, down = Math.floor(number(0, 1) / 9) + 1;
  if (hash.length !== 4 + 2 * across * down || [...hash].some((digit) => !digits.includes(digit))) return null;
  const largest = (number(1, 2) + 1) / 166, average = number(2, 6);
  const colours = [[average >> 16, (average >> 8) & 255, average & 255].map(linear)];
  for (let from = 6; from < hash.length; from += 2) {
    const value = number(from, from + 2), parts = [Math.floor(value / 361), Math.floor(value / 19) % 19, value % 19];
    colours.push(parts.map((part) => Math.sign(part - 9) * ((part - 9) / 9) ** 2 * largest));
  }
  return { across, down, colours };
}

function colourAt({ across, down, colours }, x, y) {
  const sum = [0, 0, 0];
  for (let row = 0; row < down; row++) {
    for (let column = 0; column < across; column++) {
      const weight = Math.cos(Math.PI * x * column) * Math.cos(Math.PI * y * row), colour = colours[row * across + column];
      for (let channel = 0; channel < 3; channel++) sum[channel] += colour[channel] * weight;
    }
  }
  return [...sum.map(encoded), 255];
}

/** From and to sRGB. */
const linear = (byte) => (byte <= 10.31475 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
function encoded(value) {
  const light = Math.max(0, Math.min(1, value));
  return Math.round(255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055));
}
