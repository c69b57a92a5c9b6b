// Checks the page's accessibility and returns the findings: [{rule, where, why}]. "contrast" and "boundary" also have the box and the
// colour: they assume the worst colour of a gradient, so test_accessibility.py checks the painted pixels too. It also checks the
// accessibility tree. It runs this file in the page after contrast.js.

const ROLES = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code columnheader '
    + 'combobox complementary contentinfo definition dialog document emphasis feed figure form generic grid gridcell '
    + 'group heading img image link list listbox listitem log main marquee math menu menubar menuitem '
    + 'menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio '
    + 'radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong '
    + 'switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem').split(' '));
const REQUIRED = {
    checkbox: ['aria-checked'], combobox: ['aria-expanded'], heading: ['aria-level'], meter: ['aria-valuenow'],
    option: ['aria-selected'],
    radio: ['aria-checked'], scrollbar: ['aria-controls', 'aria-valuenow'], slider: ['aria-valuenow'], switch: ['aria-checked'],
};
const PARENTS = {
    option: ['listbox'], listitem: ['list'], tab: ['tablist'], row: ['table', 'grid', 'rowgroup', 'treegrid'], cell: ['row'],
    gridcell: ['row'], columnheader: ['row'], rowheader: ['row'], menuitem: ['menu', 'menubar'], treeitem: ['tree', 'group'],
};
const CHILDREN = {
    listbox: ['option', 'group'], list: ['listitem'], tablist: ['tab'], table: ['row', 'rowgroup', 'caption'],
    row: ['cell', 'gridcell', 'columnheader', 'rowheader'],
};
const TOKENS = {
    'aria-atomic': 'true false', 'aria-autocomplete': 'inline list both none', 'aria-busy': 'true false',
    'aria-checked': 'true false mixed', 'aria-current': 'page step location date time true false', 'aria-disabled': 'true false',
    'aria-expanded': 'true false', 'aria-haspopup': 'true false menu listbox tree grid dialog', 'aria-hidden': 'true false',
    'aria-invalid': 'true false grammar spelling', 'aria-live': 'off polite assertive', 'aria-modal': 'true false',
    'aria-multiline': 'true false', 'aria-multiselectable': 'true false', 'aria-orientation': 'horizontal vertical',
    'aria-pressed': 'true false mixed', 'aria-readonly': 'true false', 'aria-required': 'true false', 'aria-selected': 'true false',
    'aria-sort': 'ascending descending none other',
};
const REFERENCES = ('aria-activedescendant aria-controls aria-describedby aria-details aria-errormessage aria-flowto '
    + 'aria-labelledby aria-owns').split(' ');
const NUMBERS = ('aria-level aria-posinset aria-setsize aria-valuemax aria-valuemin aria-valuenow aria-colcount aria-colindex '
    + 'aria-rowcount aria-rowindex').split(' ');
const TEXTS = ('aria-label aria-roledescription aria-valuetext aria-keyshortcuts aria-placeholder aria-description '
    + 'aria-relevant').split(' ');
const NATIVE = {
    UL: 'list', OL: 'list', LI: 'listitem', TABLE: 'table', TR: 'row', TD: 'cell', THEAD: 'rowgroup', TBODY: 'rowgroup',
};
const CONTROL = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=option], [role=tab], '
    + '[role=checkbox], [role=switch], [role=slider], [role=link], [tabindex="0"]';
const FIELD = 'input:not([type=hidden], [type=button], [type=submit]), select, textarea';
const LANDMARK = 'main, header, footer, nav, aside, search, dialog, section[aria-label], section[aria-labelledby], [aria-live], '
    + '[role=main], [role=banner], [role=contentinfo], [role=navigation], [role=complementary], [role=search], [role=region], '
    + '[role=status], [role=alert], [role=dialog]';

const role = (element) => element.getAttribute('role') ?? NATIVE[element.tagName] ?? null;
const where = (element) => {
    if (element.id) return `#${element.id}`;
    const near = element.closest('[id]');
    const classes = [...element.classList].map((name) => `.${name}`).join('');
    const own = element.tagName.toLowerCase() + classes + (element.name ? `[name=${element.name}]` : '');
    return near ? `#${near.id} ${own}` : own;
};
const seen = (element) => element.checkVisibility({visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true})
    && !element.closest('[inert]') && element.getBoundingClientRect().width > 1 && element.getBoundingClientRect().height > 1;

function accessibility() {
    // `elementsFromPoint` ignores elements without pointer events.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { pointer-events: auto !important; }');
    document.adoptedStyleSheets.push(sheet);
    try {
        return everything();
    } finally {
        document.adoptedStyleSheets.pop();
    }
}

function everything() {
    const found = [];
    const wrong = (rule, element, why, more) => found.push({rule, where: element ? where(element) : 'the page', why, ...more});
    // Elements behind a modal dialog are inert.
    const modal = document.querySelector('dialog:modal');
    const all = [...(modal ?? document).querySelectorAll('*')].filter((element) => !element.closest('[inert]'));
    if (modal) all.unshift(modal);
    const told = all.filter((element) => element.checkVisibility() && !element.closest('[aria-hidden=true]'));

    page(wrong, modal);
    for (const element of document.querySelectorAll('[id]')) {
        const same = document.querySelectorAll(`[id="${CSS.escape(element.id)}"]`);
        if (same.length > 1) wrong('unique-id', element, 'another element has the same id');
    }
    for (const element of all) aria(wrong, element);
    for (const element of told) roles(wrong, element);
    for (const element of told) content(wrong, element);
    for (const element of all.filter(seen)) controls(wrong, element);
    texts(wrong, modal ?? document.body);
    return found;
}

function page(wrong, modal) {
    if (!/^[a-z]{2,3}(-|$)/.test(document.documentElement.lang)) wrong('language', document.documentElement, 'no lang');
    if (!document.title.trim()) wrong('title', null, 'no title');
    const viewport = document.querySelector('meta[name=viewport]')?.content ?? '';
    const narrow = /user-scalable\s*=\s*(no|0)|maximum-scale\s*=\s*[01](\.|,|$)/;
    if (narrow.test(viewport)) wrong('zoom', null, 'the viewport forbids to zoom');
    if (document.querySelectorAll('main, [role=main]').length !== 1) wrong('main', null, 'not exactly one main');
    const headings = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6, [role=heading]')]
        .filter((each) => each.checkVisibility());
    const levels = headings.map((each) => Number(each.ariaLevel ?? each.tagName[1]));
    if (!modal && levels.filter((level) => level === 1).length !== 1) wrong('headings', null, 'not exactly one of the first level');
    levels.forEach((level, index) => {
        if (index && level > levels[index - 1] + 1) wrong('headings', headings[index], 'skips a level');
    });
    headings.filter((each) => !each.textContent.trim()).forEach((each) => wrong('headings', each, 'is empty'));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (!modal && walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        const skip = parent.closest('a[href^="#"]') || !seen(parent) || parent.matches('script, style, template, noscript');
        if (!walker.currentNode.data.trim() || skip || parent.closest(LANDMARK)) continue;
        wrong('landmark', parent, 'text outside of every landmark');
    }
    for (const nest of document.querySelectorAll('button *, a[href] *, [role=option] *')) {
        if (nest.matches(CONTROL) && !nest.closest('[aria-hidden=true]')) wrong('nested', nest, 'a control within a control');
    }
}

function aria(wrong, element) {
    for (const {name, value} of element.attributes) {
        if (!name.startsWith('aria-')) continue;
        if (TOKENS[name]) {
            if (!TOKENS[name].split(' ').includes(value)) wrong('aria-value', element, `${name}="${value}"`);
        } else if (REFERENCES.includes(name)) {
            // An empty value is no reference.
            const missing = value.split(/\s+/).filter((id) => id && !document.getElementById(id));
            for (const id of missing) wrong('aria-reference', element, `${name}: no #${id}`);
        } else if (NUMBERS.includes(name)) {
            if (!/^-?\d+(\.\d+)?$/.test(value)) wrong('aria-value', element, `${name}="${value}"`);
        } else if (!TEXTS.includes(name)) {
            wrong('aria-attribute', element, `there is no ${name}`);
        }
    }
    if (Number(element.getAttribute('tabindex')) > 0) wrong('tabindex', element, 'a tabindex above 0');
    if (element.matches(CONTROL) && element.tabIndex >= 0 && element.closest('[aria-hidden=true]') && element.checkVisibility()) {
        wrong('hidden-focus', element, 'can get the focus, but is hidden');
    }
}

function roles(wrong, element) {
    const given = element.getAttribute('role');
    if (given !== null && !ROLES.has(given)) wrong('role', element, `there is no role "${given}"`);
    const own = role(element);
    for (const name of given ? REQUIRED[own] ?? [] : []) {
        if (element.hasAttribute(name) || element.matches('input, progress')) continue;
        wrong('role-attribute', element, `${own} without ${name}`);
    }
    if (given && PARENTS[own] && !PARENTS[own].includes(role(outer(element)))) {
        wrong('role-parent', element, `${own} outside of ${PARENTS[own].join(' or ')}`);
    }
    for (const child of CHILDREN[own] ? inner(element) : []) {
        if (!CHILDREN[own].includes(role(child))) wrong('role-child', child, `${role(child)} within ${own}`);
    }
    if (own === 'option' && !(Number(element.ariaPosInSet) >= 1 && Number(element.ariaPosInSet) <= Number(element.ariaSetSize))) {
        wrong('option', element, 'its place in the set is wrong');
    }
}

const plain = (element) => ['presentation', 'none', 'generic'].includes(role(element) ?? 'generic');

/** The nearest ancestor with a role. */
function outer(element) {
    do element = element.parentElement; while (element !== document.body && plain(element));
    return element;
}

/** The nearest descendants that have a role or no children. */
function inner(element) {
    return [...element.children]
        .filter((child) => child.checkVisibility() && !child.matches('[aria-hidden=true], caption, colgroup'))
        .flatMap((child) => plain(child) ? child.children.length ? inner(child) : [] : [child]);
}

function content(wrong, element) {
    if (element.matches('img') && !element.hasAttribute('alt')) wrong('image', element, 'no alt');
    const named = element.ariaLabel || element.hasAttribute('aria-labelledby');
    const hidden = element.matches('[aria-hidden=true], [role=presentation], [role=none]') || element.closest('button, a');
    if (element.matches('svg, canvas') && !hidden && !(element.matches('[role=img]') && named)) {
        wrong('image', element, 'neither named nor hidden');
    }
    if (element.matches(FIELD) && !element.labels?.length && !named) wrong('label', element, 'no label');
    if (element.matches('th') && !element.matches('[scope]')) wrong('table', element, 'a heading without scope');
    const text = element.matches('button, a[href]') ? element.innerText.trim().toLowerCase() : '';
    if (text && element.ariaLabel && !element.ariaLabel.toLowerCase().includes(text)) {
        wrong('label-in-name', element, 'its name lacks the text on it');
    }
    const style = getComputedStyle(element), moves = (overflow) => ['auto', 'scroll'].includes(overflow);
    const scrolls = moves(style.overflowY) && element.scrollHeight > element.clientHeight + 1
        || moves(style.overflowX) && element.scrollWidth > element.clientWidth + 1;
    const reached = element.tabIndex >= 0 || [...element.querySelectorAll(CONTROL)].some((each) => each.tabIndex >= 0);
    if (scrolls && !reached && element !== document.documentElement && element !== document.body) {
        wrong('scrolling', element, 'scrolls, but keys do not reach it');
    }
}

function controls(wrong, element) {
    if (!element.matches(CONTROL) || element.matches(':disabled')) return;
    const box = element.getBoundingClientRect();
    if (Math.min(box.width, box.height) < 24 && !element.matches('p a, li a, input[type=checkbox], input[type=radio]')) {
        wrong('target-size', element, `${box.width.toFixed(0)} × ${box.height.toFixed(0)} px`);
    }
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const style = getComputedStyle(element);
    if (element.matches('input:not([type=range], [type=checkbox], [type=radio]), select, textarea')) {
        // The border or the background must contrast with the surroundings (WCAG 1.4.11).
        const edges = [style.backgroundColor, ...['Top', 'Bottom'].map((side) =>
            style[`border${side}Width`] !== '0px' && style[`border${side}Color`])];
        const [best, edge] = edges.filter(Boolean).map((each) => [contrastAt(element, each, x, y, element.parentElement) ?? 21, each])
            .sort(([one], [other]) => other - one)[0];
        if (best < 3) wrong('boundary', element, `contrast ${best.toFixed(2)}`, {box: box.toJSON(), colour: colour(edge), needed: 3});
    }
    for (const icon of element.matches('button, a[href]') && !element.innerText.trim() ? element.querySelectorAll('svg') : []) {
        const drawn = getComputedStyle(icon);
        const paints = [drawn.stroke, drawn.fill].filter((paint) => paint !== 'none');
        const best = Math.max(...paints.map((paint) => contrastAt(element, paint, x, y) ?? 21));
        if (best < 3) wrong('icon', element, `contrast ${best.toFixed(2)}`);
    }
}

function texts(wrong, root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const look = (element, box, style) => {
        const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
        const contrast = contrastAt(element, style.color, box.left + box.width / 2, box.top + box.height / 2);
        const needed = large ? 3 : 4.5, [r, g, b, a] = colour(style.color);
        if (contrast === null || contrast >= needed) return;
        const why = `${contrast.toFixed(2)}: ${style.color}, ${size} px`;
        wrong('contrast', element, why, {box: box.toJSON(), colour: [r, g, b, a * opacity(element)], needed});
    };
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        const skip = parent.matches('script, style, template, noscript, option')
            || parent.closest(':disabled, [aria-disabled=true]');
        if (!walker.currentNode.data.trim() || skip || !seen(parent)) continue;
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        const box = range.getBoundingClientRect();
        if (box.width > 1 && box.height > 1) look(parent, box, getComputedStyle(parent));
    }
    for (const field of root.querySelectorAll(FIELD)) {
        if (field.disabled || field.type === 'range' || !seen(field)) continue;
        look(field, field.getBoundingClientRect(), getComputedStyle(field));
        if (field.placeholder && !field.value) look(field, field.getBoundingClientRect(), getComputedStyle(field, '::placeholder'));
    }
}
