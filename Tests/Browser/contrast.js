// Contrast ratios by WCAG 2 of painted colours in any notation, with transparency and gradients. Used by accessibility.js.

const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const colours = new Map();

/** A CSS colour as [r, g, b, alpha], as the browser paints it. */
function colour(text) {
    if (!colours.has(text)) {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = 'rgba(0, 0, 0, 0)';
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        colours.set(text, [r, g, b, a / 255]);
    }
    return colours.get(text);
}

const over = ([r, g, b, a], below) => [r, g, b].map((value, index) => value * a + below[index] * (1 - a));

function luminance(rgb) {
    const linear = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.map((value) => linear(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ratio(one, other) {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
}

/** The elements painted under a point of an element; its ancestors if the point is off-screen. */
function layers(element, x, y) {
    const hit = document.elementsFromPoint(x, y);
    const index = hit.indexOf(element);
    if (index >= 0) return hit.slice(index);
    const chain = [];
    for (let each = element; each; each = each.parentElement) chain.push(each);
    return chain;
}

/** The possible background colours at a point, or null if an image is there. */
function backgrounds(element, x, y) {
    const stack = [];
    let opaque = false;
    for (const layer of layers(element, x, y)) {
        const style = getComputedStyle(layer);
        if (layer !== element && layer.matches('img, canvas, video, svg')) return null;
        if (style.backgroundImage.includes('url(')) return null;
        // An ancestor's opacity applies to the element too, so it does not change the contrast between them.
        const share = layer.contains(element) ? 1 : opacity(layer);
        const faded = ([r, g, b, a]) => [r, g, b, a * share];
        const base = faded(colour(style.backgroundColor)), stops = gradient(style.backgroundImage).map(faded);
        stack.push({base, stops});
        opaque = base[3] === 1 || stops.length > 0 && stops.every((stop) => stop[3] === 1);
        if (opaque) break;
    }
    const dark = matchMedia('(prefers-color-scheme: dark)').matches
        && getComputedStyle(document.documentElement).colorScheme.includes('dark');
    let below = [dark && !opaque ? [18, 18, 18] : [255, 255, 255]];
    for (const {base, stops} of stack.reverse()) {
        below = below.map((each) => over(base, each));
        if (stops.length) below = below.flatMap((each) => stops.map((stop) => over(stop, each))).slice(0, 64);
    }
    return below;
}

function gradient(text) {
    return [...text.matchAll(/(?:rgba?|hsla?|color|oklch|oklab|lab|lch)\([^()]*\)/g)].map(([each]) => colour(each));
}

function opacity(element) {
    let product = 1;
    for (let each = element; each; each = each.parentElement) product *= Number(getComputedStyle(each).opacity);
    return product;
}

/** The lowest contrast of a colour at a point of an element, or null if the background is an image. */
function contrastAt(element, text, x, y, from = element) {
    const under = backgrounds(from, x, y);
    if (!under) return null;
    const [r, g, b, a] = colour(text);
    const alpha = a * opacity(element);
    return Math.min(...under.map((each) => ratio(over([r, g, b, alpha], each), each)));
}
