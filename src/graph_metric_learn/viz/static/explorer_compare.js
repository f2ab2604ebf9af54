// Two graphs side by side: what their nodes cost, who is matched with whom, and what was compared, in words.

const MOST_MATCHES = 8; // as many as there are colours

// The heaviest matches, each node in one of them at most.
function heaviestMatches(found) {
  const all = [], used = [new Set(), new Set()];
  found.best[0].forEach((j, i) => all.push([i, j, found.mass[0][i]]));
  found.best[1].forEach((i, j) => all.push([i, j, found.mass[1][j]]));
  all.sort((one, two) => two[2] - one[2] || one[0] - two[0]);
  const kept = [];
  for (const [i, j, mass] of all) {
    if (kept.length === MOST_MATCHES || used[0].has(i) || used[1].has(j) || mass <= 0) continue;
    used[0].add(i);
    used[1].add(j);
    kept.push([i, j, mass]);
  }
  return kept;
}

class Compare {
  constructor(root, data, onClose) {
    Object.assign(this, { root, data, onClose });
    this.by = 'share';
  }

  open(one, two, distance) {
    this.pair = [one, two];
    this.distance = distance;
    this.found = this.data.explained.get(one, two);
    this.root.hidden = false;
    this.root.parentElement.classList.add('comparing');
    this.undrawn = !this.data.drawings.isDrawn(one) || !this.data.drawings.isDrawn(two);
    this.waiting = !this.found && !this.undrawn && Boolean(this.data.given.served);
    this.render();
    if (this.waiting) this.ask(one, two);
  }

  async ask(one, two) {
    const found = await this.data.explained.ask(one, two);
    if (!this.pair || this.pair[0] !== one || this.pair[1] !== two) return;
    this.found = found;
    this.waiting = false;
    this.render();
  }

  close() {
    this.root.hidden = true;
    this.root.parentElement.classList.remove('comparing');
    this.pair = null;
  }

  render() {
    if (!this.pair) return;
    const { data, found } = this, [one, two] = this.pair;
    const evidence = found && found.evidence;
    if (!evidence) this.by = 'share';
    const head = element('div', { class: 'compare-head' },
      element('div', {},
        element('h2', { text: `${data.names[one]} – ${data.names[two]}` }),
        element('p', { class: 'how', text: this.opening() })),
      element('button', { type: 'button', id: 'close-compare', text: 'Back to the map', 'aria-keyshortcuts': 'Escape', on: { click: () => this.onClose() } }));
    const told = element('p', { class: 'told-node', role: 'status', id: 'told-node' });
    this.told = told;
    const matches = found ? heaviestMatches(found) : [];
    const rings = [new Map(), new Map()];
    matches.forEach(([i, j], place) => {
      const ring = { colour: classColour(place), text: String(place + 1) };
      rings[0].set(i, ring);
      rings[1].set(j, ring);
    });
    const values = !found ? null : this.by === 'share' ? found.shares : evidence.nodes;
    const top = !found ? 1 : this.by === 'share' ? found.top : evidence.top;
    const figures = [0, 1].map((side) => {
      const graph = data.graph(this.pair[side]);
      const drawing = drawGraph(graph, {
        alt: `${data.names[this.pair[side]]}, ${graph.size} nodes, shaded by ${this.by === 'share' ? 'their share of the squared distance' : 'what they speak for'}`,
        shades: values && values[side].map((value) => value / top),
        edgeShades: found && this.by === 'share' && found.edgeShades ? found.edgeShades[side].map((value) => value / top) : null,
        rings: found ? rings[side] : null,
        onNode: found ? (n) => this.tell(side, n) : null,
      });
      const truth = data.target.values ? data.target.values[this.pair[side]] : null;
      const caption = element('figcaption', {}, element('span', { text: data.names[this.pair[side]] }));
      if (truth !== null) caption.append(' · ', chip(data, truth));
      return element('figure', {}, drawing, caption);
    });
    const parts = [head];
    if (found && found.distance > 0) {
      if (evidence) parts.push(this.choice(evidence));
      parts.push(element('div', { class: 'sides' }, ...figures, this.bar(top)));
      parts.push(told, this.below(found, matches));
    } else {
      parts.push(element('div', { class: 'sides' }, ...figures));
      if (this.waiting) parts.push(element('p', { role: 'status', text: 'Computing the explanation …' }));
      else parts.push(element('p', { id: 'no-explanation', text: found
        ? 'By this metric the two are the same: their distance is 0, so there is nothing to take apart.'
        : this.undrawn ? data.given.undrawn : 'No explanation of this pair is stored in the page: only those of the nearest pairs fit. The library computes it: metric.explain(one, other).' }));
    }
    this.root.replaceChildren(...parts);
  }

  opening() {
    const distance = this.found ? this.found.distance : this.distance;
    const text = `Distance ${shortNumber(distance)}.`;
    if (!this.found || !this.found.terms.length || distance === 0) return text;
    const [first] = this.found.terms;
    return `${text} ${percent(first.share)} of d² is from ${first.name}.`;
  }

  choice(evidence) {
    const words = this.speaks(evidence);
    const options = [['share', 'what makes them differ (share of d²)'], ['evidence', words.label]];
    return element('fieldset', { class: 'shade-by' }, element('legend', { class: 'told', text: 'Shade nodes by' }),
      ...options.map(([value, text]) => {
        const input = element('input', { type: 'radio', name: 'shade', value, on: { change: () => { this.by = value; this.render(); this.root.querySelector(`input[value=${value}]`).focus() } } });
        input.checked = this.by === value;
        return element('label', {}, input, element('span', { text }));
      }));
  }

  speaks(evidence) {
    if (this.data.target.kind === 'numbers' || evidence.towards < 0) return { label: 'what raises the number', high: 'raises it', low: 'lowers it' };
    const name = this.data.inWords(evidence.towards);
    if (evidence.against < 0) return { label: `what speaks for ${name}`, high: `for ${name}`, low: `against ${name}` };
    const against = this.data.inWords(evidence.against);
    return { label: `what speaks for ${name}, what for ${against}`, high: `for ${name}`, low: `for ${against}` };
  }

  bar(top) {
    const level = window.matchMedia('(max-width: 860px)').matches;
    const canvas = element('canvas', { 'aria-hidden': 'true' });
    canvas.width = level ? 128 : 1;
    canvas.height = level ? 1 : 128;
    const context = canvas.getContext('2d');
    for (let s = 0; s < 128; s++) {
      context.fillStyle = css(diverging(level ? s / 63.5 - 1 : 1 - s / 63.5));
      context.fillRect(level ? s : 0, level ? 0 : s, 1, 1);
    }
    let texts = [`+${percent(top)}`, '0', `−${percent(top)}`], title = 'share of d²';
    if (this.by === 'evidence') {
      const words = this.speaks(this.found.evidence);
      texts = [words.high, '', words.low];
      title = 'by the learned scores';
    }
    const labels = element('div', {}, ...texts.map((text) => element('span', { text })));
    return element('div', { class: 'bar', role: 'img', 'aria-label': `Colours: ${texts[0]} is orange, ${texts[2]} is purple` }, canvas, labels, element('p', { class: 'bar-title', text: title }));
  }

  below(found, matches) {
    const { data } = this;
    const left = element('div', {});
    if (found.terms.length) {
      left.append(element('h3', { text: 'What the squared distance is made of' }));
      const list = element('ul', { class: 'terms' });
      for (const term of found.terms) {
        const fill = element('div', { class: 'fill' });
        fill.style.width = `${Math.max(0, Math.min(100, 100 * term.share)).toFixed(1)}%`;
        list.append(element('li', {}, element('span', { class: 'amount', text: percent(term.share) }), element('span', { text: term.name }), element('div', { class: 'track' }, fill)));
      }
      left.append(list);
      if (found.terms.some((term) => term.share < 0)) left.append(element('p', { class: 'how', text: 'A negative share takes off: there the two are more alike than the rest says.' }));
    }
    const right = element('div', {}, element('h3', { text: 'Heaviest matches' }));
    const graphs = this.pair.map((i) => data.graph(i));
    const rows = matches.map(([i, j], place) => {
      const swatch = element('span', { class: 'swatch', text: String(place + 1) });
      const rgb = hex(classColour(place));
      swatch.style.background = css(rgb);
      swatch.style.color = inkOn(rgb);
      return element('tr', {}, element('td', {}, swatch), element('td', { text: graphs[0].nodes[i].name }), element('td', { text: graphs[1].nodes[j].name }),
        element('td', { text: percent(found.shares[0][i]) }), element('td', { text: percent(found.shares[1][j]) }));
    });
    const head = element('tr', {}, ...['', 'node here', 'node there', 'share here', 'share there'].map((text) => element('th', { scope: 'col', text })));
    right.append(element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
    const words = found.evidence ? this.evidenceInWords(found.evidence) : '';
    if (words) left.append(element('h3', { text: 'What was learned' }), element('p', { text: words }));
    return element('div', { class: 'below' }, left, right);
  }

  evidenceInWords(evidence) {
    const graphs = this.pair.map((i) => this.data.graph(i));
    const strongest = (side, sign) => evidence.nodes[side].map((value, n) => [sign * value, n]).filter(([value]) => value > 0.05 * evidence.top)
      .sort((one, two) => two[0] - one[0]).slice(0, 3).map(([, n]) => graphs[side].nodes[n].name).join(', ') || 'no node';
    const { high, low } = this.speaks(evidence);
    const isNumber = this.data.target.kind === 'numbers';
    const says = isNumber ? ['Nodes that raise the number', 'those that lower it'] : [`Nodes that speak ${high}`, `those that speak ${low}`];
    return `${says[0]}: ${strongest(0, 1)} on the left, ${strongest(1, 1)} on the right; ${says[1]}: ${strongest(0, -1)} on the left, ${strongest(1, -1)} on the right. Each graph is measured against the other.`;
  }

  tell(side, n) {
    const { data, found } = this, graphs = this.pair.map((i) => data.graph(i));
    const partner = found.best[side][n], name = graphs[side].nodes[n].name, other = graphs[1 - side].nodes[partner].name;
    this.told.textContent = `${name}: ${percent(found.shares[side][n])} of d²; ${percent(found.mass[side][n])} of its mass is matched with ${other}.`;
    for (const ring of this.root.querySelectorAll('.partner')) ring.remove();
    const svgs = this.root.querySelectorAll('.sides svg.drawing');
    [[side, n], [1 - side, partner]].forEach(([where, which]) => {
      const hit = svgs[where].querySelector(`[data-node="${which}"]`);
      hit.before(shape('circle', { cx: hit.getAttribute('cx'), cy: hit.getAttribute('cy'), r: Number(hit.getAttribute('r')) + 1.6, fill: 'none', stroke: 'var(--focus)', 'stroke-width': 1.1, 'stroke-dasharray': '2 1', class: 'partner' }));
    });
  }
}
