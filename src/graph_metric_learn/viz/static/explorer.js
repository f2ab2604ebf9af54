// Puts the page together: tools, map, panel, comparison, keys.

const data = new Data(JSON.parse(document.getElementById('data').textContent));
const at = (id) => document.getElementById(id);
const panel = at('panel'), tip = at('tip'), told = at('told');
const root = document.documentElement;

// --- theme -----------------------------------------------------------------------------------------------------------

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)');
function setTheme(theme) {
  root.dataset.theme = theme;
  at('theme').setAttribute('aria-pressed', String(theme === 'dark'));
}
setTheme(prefersDark.matches ? 'dark' : 'light');
prefersDark.addEventListener('change', () => { setTheme(prefersDark.matches ? 'dark' : 'light'); repaint() });
at('theme').addEventListener('click', () => { setTheme(isDark() ? 'light' : 'dark'); repaint() });

// --- choosing --------------------------------------------------------------------------------------------------------

let chosen = -1, other = -1;
const compare = new Compare(at('compare'), data, () => closeCompare());
const map = new MapView(at('map'), data, { onChoose: (i) => choose(i), onHover: hover });

function choose(i) {
  chosen = i;
  other = -1;
  compare.close();
  map.chosen = i;
  map.other = -1;
  map.show(i);
  showPanel();
  told.textContent = `${data.names[i]} chosen.`;
  remember();
}

function compareWith(neighbour) {
  other = neighbour.id;
  map.other = other;
  map.draw();
  compare.open(chosen, other, neighbour.distance);
  for (const button of panel.querySelectorAll('.near button')) button.setAttribute('aria-pressed', String(Number(button.dataset.id) === other));
  at('compare').focus({ preventScroll: true });
  at('compare').scrollTop = 0;
  if (window.matchMedia('(max-width: 860px)').matches) at('compare').scrollIntoView();
  remember();
}

function closeCompare() {
  const back = panel.querySelector(`.near button[data-id="${other}"]`);
  other = -1;
  map.other = -1;
  compare.close();
  map.draw();
  for (const button of panel.querySelectorAll('.near button')) button.setAttribute('aria-pressed', 'false');
  (back || at('map')).focus();
  remember();
}

function clear() {
  chosen = -1;
  map.chosen = -1;
  map.draw();
  showPanel();
  at('map').focus();
  remember();
}

function remember() {
  const place = chosen < 0 ? ' ' : other < 0 ? `#${chosen}` : `#${chosen}-${other}`;
  try { history.replaceState(null, '', place.trim() || location.pathname) } catch { /* pages from some places keep no history */ }
}

function hover(i, x, y) {
  tip.hidden = i < 0;
  if (i < 0) return;
  const value = data.target.values ? ` · ${data.inWords(data.target.values[i])}` : '';
  tip.textContent = data.names[i] + value;
  tip.style.left = `${Math.min(x + 12, map.width - 160)}px`;
  tip.style.top = `${Math.max(4, y - 34)}px`;
}

// --- panel -----------------------------------------------------------------------------------------------------------

function small(i) {
  const graph = data.graph(i);
  return drawGraph(graph, { alt: `drawing of ${data.names[i]}`, small: true });
}

function graphButton(i, { distance, why, pressed, click }) {
  const { values, predicted } = data.target;
  const line = element('span', { class: 'small' });
  if (values) line.append(chip(data, values[i]));
  if (data.isWrong(i)) line.append(element('span', { class: 'wrong', text: ` predicted ${data.inWords(predicted[i])}` }));
  if (data.error(i) !== null && distance === undefined) line.append(` predicted ${shortNumber(predicted[i])}`);
  if (why) line.append(element('span', { text: `${values ? ' · ' : ''}${why}` }));
  const text = element('span', {}, element('span', { class: 'name', text: data.names[i] }), line);
  const options = { type: 'button', 'data-id': i, on: { click } };
  if (pressed !== undefined) options['aria-pressed'] = String(pressed);
  return element('li', {}, element('button', options, small(i), text, distance === undefined ? null : element('span', { class: 'distance', text: shortNumber(distance), title: 'distance' })));
}

function showPanel() {
  panel.replaceChildren(...(chosen < 0 ? beginning() : ofGraph(chosen)));
  panel.scrollTop = 0;
}

function beginning() {
  const { kind, values, predicted } = data.target;
  const parts = [element('h2', { text: 'Choose a graph' }),
    element('p', { text: 'Click a point of the map, or search by name. Near points are near by the metric. Then choose one of its neighbours to see why the two are near, or not nearer.' })];
  const everyone = Array.from({ length: data.count }, (_, i) => i);
  let first = [], title = '';
  if (kind === 'classes' && values && predicted) {
    first = everyone.filter((i) => data.isWrong(i));
    title = first.length ? `Predicted wrongly (${first.length})` : '';
  } else if (kind === 'numbers' && values && predicted) {
    first = everyone.filter((i) => data.error(i) !== null).sort((one, two) => data.error(two) - data.error(one));
    title = 'Predicted worst';
  }
  if (!title) { first = everyone; title = 'The first graphs' }
  parts.push(element('h3', { text: title }), element('ul', { class: 'near' }, ...first.slice(0, 12).map((i) => graphButton(i, { click: () => choose(i) }))));
  return parts;
}

function ofGraph(i) {
  const graph = data.graph(i), { kind, values, predicted, how, words, known } = data.target;
  const parts = [element('h2', { id: 'chosen-name', text: data.names[i] })];
  if (kind !== 'none') {
    const line = element('p', { class: 'facts-line' });
    if (values) line.append(kind === 'classes' ? 'class ' : 'value ', chip(data, values[i]));
    if (predicted && how[i] >= 0) {
      line.append(values ? ' · predicted ' : 'predicted ', chip(data, predicted[i]));
      if (data.isWrong(i)) line.append(element('span', { class: 'wrong', text: ' ✗ wrong' }));
      if (data.error(i) !== null) line.append(` (off by ${shortNumber(data.error(i))})`);
    }
    parts.push(line);
    if (predicted && how[i] >= 0) parts.push(element('p', { class: 'how', text: `The prediction is ${words[how[i]]}.` }));
    if (known) parts.push(element('p', { class: 'how', text: known[i] ? 'The model was fitted to this graph.' : 'The model has not seen this graph.' }));
  }
  parts.push(drawGraph(graph, { alt: `drawing of ${data.names[i]}, ${counted(graph.size, 'node')} and ${counted(graph.all, 'edge')}` }));
  if (graph.undrawn) parts.push(element('p', { class: 'how undrawn', text: data.given.undrawn }));
  const more = !graph.undrawn && graph.all > graph.edges.length ? `, of which ${graph.edges.length} are drawn` : '';
  if (graph.size) parts.push(element('p', { class: 'how', text: `${counted(graph.size, graph.atoms ? 'atom' : 'node')}, ${counted(graph.all, graph.atoms ? 'bond' : 'edge')}${more}` }));
  const near = data.neighbours(i);
  parts.push(element('h3', { text: !near.length ? 'No other graphs' : graph.undrawn ? 'Nearest graphs, with distances' : 'Nearest graphs, with distances: choose one to see why' }));
  parts.push(element('ul', { class: 'near', id: 'near' }, ...near.map((one) => graphButton(one.id, { ...one, pressed: one.id === other, click: () => compareWith(one) }))));
  parts.push(element('h3', { text: '' }), element('button', { type: 'button', id: 'clear', text: 'Choose another graph', on: { click: clear } }));
  return parts;
}

// --- colours and filters ---------------------------------------------------------------------------------------------

const colourings = {}, filters = { all: ['all graphs', () => true] };
{
  const { kind, values, predicted, known } = data.target;
  if (kind === 'classes') {
    if (values) colourings.target = ['class', 'classes', values];
    if (predicted) colourings.predicted = ['predicted class', 'classes', predicted];
    if (values && predicted) {
      colourings.wrong = ['right or wrong', 'wrong', null];
      filters.wrong = ['wrong ones', (i) => data.isWrong(i)];
      filters.right = ['right ones', (i) => values[i] >= 0 && predicted[i] >= 0 && !data.isWrong(i)];
    }
    if (values && data.target.classes.length <= 30) data.target.classes.forEach((name, code) => { filters[`class ${code}`] = [`class ${name}`, (i) => values[i] === code] });
  } else if (kind === 'numbers') {
    if (values) colourings.target = ['number', 'numbers', values];
    if (predicted) colourings.predicted = ['predicted number', 'numbers', predicted];
    if (values && predicted) {
      const errors = Array.from(values, (_, i) => data.error(i));
      colourings.error = ['error of the prediction', 'numbers', errors];
      const sorted = errors.filter((one) => one !== null).sort((one, two) => two - one), limit = sorted[Math.floor(sorted.length / 10)] ?? 0;
      filters.wrong = ['the tenth that is predicted worst', (i) => errors[i] !== null && errors[i] >= limit];
    }
  }
  if (known && known.some((one) => one) && known.some((one) => !one)) {
    filters.fresh = ['new to the model', (i) => !known[i]];
    filters.known = ['fitted to', (i) => Boolean(known[i])];
  }
  if (data.drawings.sizes.some((n) => n > 0)) colourings.size = ['number of nodes', 'numbers', Array.from(data.drawings.sizes)];
}

function fill(select, table) {
  select.append(...Object.entries(table).map(([value, [text]]) => element('option', { value, text })));
}
fill(at('colour'), colourings);
if (!Object.keys(colourings).length) at('colour').closest('label').hidden = true;
fill(at('filter'), filters);

function recolour() {
  const [, kind, values] = colourings[at('colour').value] || ['', 'none', []], legend = [];
  map.shapes = null;
  if (kind === 'classes') {
    const soft = getComputedStyle(root).getPropertyValue('--soft');
    map.colours = values.map((code) => code < 0 ? soft : classColour(code));
    map.shapes = values.map((code) => code < 0 ? 0 : classShape(code));
    data.target.classes.slice(0, 24).forEach((name, code) => legend.push(element('span', {}, mark(code), element('span', { text: name.length > 28 ? `${name.slice(0, 27)}…` : name }))));
    if (data.target.classes.length > 24) legend.push(element('span', { text: `and ${data.target.classes.length - 24} more` }));
  } else if (kind === 'wrong') {
    const codes = Array.from(data.x, (_, i) => data.isWrong(i) ? 5 : 4);
    map.colours = codes.map(classColour);
    map.shapes = codes.map((code) => code === 5 ? 3 : 0);
    const wrong = codes.filter((code) => code === 5).length;
    legend.push(...[[4, `right (${data.count - wrong})`], [5, `wrong (${wrong})`]].map(([code, text]) => element('span', {}, mark(code), element('span', { text }))));
  } else if (kind === 'none') map.colours = null;
  else {
    const there = values.filter((value) => value !== null);
    const low = there.reduce((one, two) => Math.min(one, two), Infinity), high = there.reduce((one, two) => Math.max(one, two), -Infinity);
    const part = (value) => high > low ? (value - low) / (high - low) : 0.5;
    const soft = getComputedStyle(root).getPropertyValue('--soft');
    map.colours = values.map((value) => value === null ? soft : css(viridis(part(value))));
    const ramp = element('canvas', { class: 'ramp', 'aria-hidden': 'true' });
    ramp.width = 100;
    ramp.height = 1;
    const context = ramp.getContext('2d');
    for (let s = 0; s < 100; s++) { context.fillStyle = css(viridis(s / 99)); context.fillRect(s, 0, 1, 1) }
    if (there.length) legend.push(element('span', {}, element('span', { text: shortNumber(low) }), ramp, element('span', { text: shortNumber(high) })));
  }
  at('legend').replaceChildren(...legend);
  map.draw();
}

function refilter() {
  const [, test] = filters[at('filter').value];
  let count = 0;
  for (let i = 0; i < data.count; i++) { map.shown[i] = test(i) ? 1 : 0; count += map.shown[i] }
  told.textContent = `${counted(count, 'graph')} shown.`;
  map.draw();
}
at('colour').addEventListener('change', recolour);
at('filter').addEventListener('change', refilter);
at('zoom-in').addEventListener('click', () => map.zoom(1.6));
at('zoom-out').addEventListener('click', () => map.zoom(1 / 1.6));
at('zoom-all').addEventListener('click', () => map.fit());

// --- search ----------------------------------------------------------------------------------------------------------

const search = at('search'), results = at('results');
let found = [], marked = -1;

function runSearch() {
  const wanted = search.value.trim().toLowerCase();
  found = [];
  if (wanted) for (let i = 0; i < data.count && found.length < 12; i++) if (data.names[i].toLowerCase().includes(wanted)) found.push(i);
  marked = found.length ? 0 : -1;
  listResults(wanted !== '');
}

function listResults(open) {
  results.hidden = !open;
  search.setAttribute('aria-expanded', String(open));
  if (!open) { search.removeAttribute('aria-activedescendant'); return }
  const items = found.map((i, place) => element('li', { role: 'option', id: `result-${place}`, 'aria-selected': String(place === marked), text: data.names[i], on: { pointerdown: (event) => { event.preventDefault(); take(i) } } }));
  results.replaceChildren(...(items.length ? items : [element('li', { class: 'none', role: 'option', 'aria-disabled': 'true', text: 'no graph of this name' })]));
  if (marked >= 0) search.setAttribute('aria-activedescendant', `result-${marked}`);
}

function take(i) {
  listResults(false);
  if (!map.shown[i]) { at('filter').value = 'all'; refilter() }
  choose(i);
  at('map').focus();
}

search.addEventListener('input', runSearch);
search.addEventListener('focus', () => { if (search.value) runSearch() });
search.addEventListener('blur', () => listResults(false));
search.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    if (found.length) { marked = (marked + (event.key === 'ArrowDown' ? 1 : found.length - 1)) % found.length; listResults(true) }
  } else if (event.key === 'Enter' && marked >= 0) take(found[marked]);
  else if (event.key === 'Escape') { event.stopPropagation(); search.value = ''; listResults(false); at('map').focus() }
});

// --- keys, about, start ----------------------------------------------------------------------------------------------

document.addEventListener('keydown', (event) => {
  const typing = event.target.matches('input[type=search], select, textarea');
  if (event.key === '/' && !typing) { event.preventDefault(); search.focus(); search.select() }
  else if (event.key === 'Escape' && !typing) {
    if (other >= 0) closeCompare();
    else if (chosen >= 0) clear();
  }
});
at('map').addEventListener('keydown', (event) => {
  if (event.key === 'Enter') { const first = panel.querySelector('.near button'); if (first) first.focus() }
});

function about() {
  const { given } = data, parts = [element('h2', { text: 'About this page' })];
  if (given.note) parts.push(element('p', { text: given.note }));
  parts.push(element('p', { text: `The metric: ${given.report}.` }));
  parts.push(element('p', { text: 'The map places graphs by t-SNE of the metric’s vectors: near points are near graphs; far apart says little. Distances and neighbours are exact, among the graphs of this page.' }));
  if (data.target.words.length) parts.push(element('p', { text: `Predictions: ${data.target.words.filter(Boolean).join('; or ')}.` }));
  parts.push(element('p', { text: 'A share says how much of the squared distance d² of two graphs a node, an edge or a term accounts for. Shares of each graph add up to 100 %; a negative one makes the two more alike.' }));
  parts.push(element('p', { text: given.served ? 'Explanations of graphs that are drawn are computed by the server that this page came from.' : `Explanations of ${data.explained.places.size} pairs are stored in this file. It fetches nothing.` }));
  const keys = element('p', {});
  [['/', 'search'], ['arrows', 'next graph on the map'], ['Enter', 'to its neighbours'], ['Escape', 'back'], ['+ − 0', 'zoom']].forEach(([key, does], place) => keys.append(place ? ' · ' : 'Keys: ', element('kbd', { text: key }), ` ${does}`));
  parts.push(keys);
  at('about').replaceChildren(...parts);
}
at('about-button').addEventListener('click', () => {
  at('about').hidden = !at('about').hidden;
  at('about-button').setAttribute('aria-expanded', String(!at('about').hidden));
});

function facts() {
  const { kind, classes, values, predicted, how, honest } = data.target, parts = [counted(data.count, 'graph')];
  if (kind === 'classes') parts.push(`${classes.length} classes`);
  const everyone = Array.from(data.x, (_, i) => i).filter((i) => values && predicted && values[i] !== null && predicted[i] !== null && (kind === 'numbers' || (values[i] >= 0 && predicted[i] >= 0)));
  const fair = everyone.filter((i) => honest[how[i]]), known = fair.length ? fair : everyone;
  const which = !fair.length ? ', but the metric has seen them' : fair.length < everyone.length ? `, of ${fair.length} it has not learned from` : '';
  if (kind === 'classes' && known.length) {
    const wrong = known.filter((i) => data.isWrong(i)).length;
    parts.push(`${wrong} predicted wrongly (${percent(wrong / known.length)}${which})`);
  } else if (kind === 'numbers' && known.length) {
    parts.push(`mean error of predictions ${shortNumber(known.reduce((sum, i) => sum + data.error(i), 0) / known.length)}${which}`);
  }
  at('facts').textContent = parts.join(' · ');
}

function repaint() {
  recolour();
  if (chosen >= 0) showPanel();
  compare.render();
}

facts();
about();
recolour();
refilter();
told.textContent = '';
showPanel();
{
  const place = /^#(\d+)(?:-(\d+))?$/.exec(location.hash);
  if (place && Number(place[1]) < data.count) {
    choose(Number(place[1]));
    const near = place[2] === undefined ? null : data.neighbours(chosen).find((one) => one.id === Number(place[2]));
    if (near) compareWith(near);
  }
}
root.dataset.ready = 'yes';
