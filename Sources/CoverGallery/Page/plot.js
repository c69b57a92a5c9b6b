// Covers per second over the time of a prefetch, as one line and the area below it.

const line = document.querySelector("#plot .line");
const area = document.querySelector("#plot .area");
const plot = document.getElementById("plot");
const peakLabel = document.getElementById("plot-peak");
const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const width = 300, height = 80;
/** More points than this are thinned, by leaving out every second: an hour fits as well as a minute. */
const most = 240;

let samples = [];

export function clearPlot() {
  samples = [];
  draw();
}

/** @param {number} seconds since the prefetch began @param {number} rate */
export function addSample(seconds, rate) {
  if (samples.length && seconds <= samples.at(-1).seconds) return;
  // The first says how fast it was until then.
  if (!samples.length) samples.push({ seconds: 0, rate });
  samples.push({ seconds, rate });
  if (samples.length > most) samples = samples.filter((_, n) => n % 2 === 1);
  draw();
}

function draw() {
  const peak = Math.max(0, ...samples.map((sample) => sample.rate));
  peakLabel.textContent = peak ? `peak ${number.format(peak)}/s` : "";
  if (samples.length < 2) {
    line.setAttribute("d", "");
    area.setAttribute("d", "");
    plot.setAttribute("aria-label", "Covers per second over time: nothing yet");
    return;
  }
  const begin = samples[0].seconds, span = samples.at(-1).seconds - begin;
  const points = samples.map(({ seconds, rate }) => {
    const x = ((seconds - begin) / span) * width, y = height - (rate / (peak * 1.1 || 1)) * height;
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  line.setAttribute("d", `M${points.join("L")}`);
  area.setAttribute("d", `M0 ${height}L${points.join("L")}L${width} ${height}Z`);
  const now = number.format(samples.at(-1).rate);
  plot.setAttribute("aria-label", `Covers per second over ${number.format(span)} seconds: ${now} now, ${number.format(peak)} at most`);
}
