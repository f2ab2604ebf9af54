// What the page knows: the reader of what report/explorer/packing.py writes.

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i1: Int8Array, f4: Float32Array };

function unpack(text, kind) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new KINDS[kind](bytes.buffer);
}

function starts(counts) {
  const found = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) found[i + 1] = found[i] + counts[i];
  return found;
}

class Drawings {
  constructor(packed) {
    this.sizes = unpack(packed.sizes, 'u4');
    this.counts = unpack(packed.counts, 'u4');
    this.all = unpack(packed.all, 'u4');
    this.drawn = packed.drawn && unpack(packed.drawn, 'u1');
    this.stored = this.sizes.map((n, i) => this.isDrawn(i) ? n : 0);
    this.nodeStarts = starts(this.stored);
    this.edgeStarts = starts(this.counts);
    this.places = unpack(packed.places, 'u1');
    this.ends = unpack(packed.edges, packed.wide);
    this.orders = packed.orders && unpack(packed.orders, 'u1');
    this.widths = packed.widths && unpack(packed.widths, 'u1');
    this.weights = packed.weights && unpack(packed.weights, 'u1');
    this.symbols = packed.symbols && { table: packed.symbols.table, codes: unpack(packed.symbols.codes, packed.symbols.wide) };
    this.labels = packed.labels && { table: packed.labels.table, codes: unpack(packed.labels.codes, packed.labels.wide) };
    this.atoms = packed.atoms;
    this.names = packed.names;
    this.directed = packed.directed;
  }

  isDrawn(i) { return !this.drawn || this.drawn[i] === 1 }

  // One graph: nodes with place, symbol, label and name, and edges.
  get(i) {
    const nodes = [], edges = [];
    const first = this.nodeStarts[i], atoms = this.atoms && this.atoms[i];
    for (let n = 0; n < this.stored[i]; n++) {
      const at = first + n;
      const label = this.labels ? this.labels.table[this.labels.codes[at]] : '';
      const own = this.names && this.names[i] ? this.names[i][n] : null;
      nodes.push({
        x: this.places[2 * at] / 255, y: this.places[2 * at + 1] / 255, label,
        labelCode: this.labels ? this.labels.codes[at] : -1,
        symbol: this.symbols ? this.symbols.table[this.symbols.codes[at]] : '',
        weight: this.weights ? this.weights[at] / 255 : -1,
        name: own !== null ? own : atoms ? label + (n + 1) : String(n),
      });
    }
    for (let e = this.edgeStarts[i]; e < this.edgeStarts[i + 1]; e++) {
      edges.push({
        a: this.ends[2 * e], b: this.ends[2 * e + 1], order: this.orders ? this.orders[e] : 1,
        width: this.widths ? this.widths[e] / 255 : 1,
      });
    }
    const fewLabels = Boolean(this.labels) && this.labels.table.length <= 8;
    return { nodes, edges, fewLabels, atoms: Boolean(atoms), directed: this.directed, size: this.sizes[i], all: this.all[i], undrawn: !this.isDrawn(i) };
  }
}

class Reader {
  constructor(bytes) { this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength); this.at = 0 }
  u1() { return this.view.getUint8(this.at++) }
  i1() { return this.view.getInt8(this.at++) }
  u2() { this.at += 2; return this.view.getUint16(this.at - 2, true) }
  i2() { this.at += 2; return this.view.getInt16(this.at - 2, true) }
  f4() { this.at += 4; return this.view.getFloat32(this.at - 4, true) }
  many(count, read) { return Array.from({ length: count }, () => read.call(this)) }
  signed(top, count) { return this.many(count, this.i1).map((value) => value / 127 * top) }
}

class Explained {
  constructor(packed, drawings) {
    this.pairs = unpack(packed.pairs, 'u4');
    this.ends = unpack(packed.ends, 'u4');
    this.records = unpack(packed.records, 'u1');
    this.terms = packed.terms;
    this.drawings = drawings;
    this.places = new Map();
    for (let p = 0; p < this.pairs.length / 2; p++) this.places.set(`${this.pairs[2 * p]} ${this.pairs[2 * p + 1]}`, p);
  }

  // The explanation of two graphs, whichever of them was the first; null where none is stored.
  get(one, two) {
    const straight = this.places.get(`${one} ${two}`), turned = this.places.get(`${two} ${one}`);
    if (straight !== undefined) return this.read(straight, one, two);
    return turned === undefined ? null : turnedRound(this.read(turned, two, one));
  }

  read(p, one, two) {
    return this.parse(this.records.subarray(this.ends[p], this.ends[p + 1]), this.terms, one, two);
  }

  // One that the server computes; null where it does not.
  async ask(one, two) {
    try {
      const answer = await fetch(`explained/${one}/${two}${location.search}`);
      if (!answer.ok) return null;
      const { record, terms } = await answer.json();
      return this.parse(unpack(record, 'u1'), terms, one, two);
    } catch {
      return null;
    }
  }

  parse(bytes, terms_, one, two) {
    const reader = new Reader(bytes);
    const n = this.drawings.sizes[one], m = this.drawings.sizes[two];
    const e = this.drawings.counts[one], f = this.drawings.counts[two];
    const distance = reader.f4(), withEdges = reader.u1(), top = reader.f4();
    const shares = [reader.signed(top, n), reader.signed(top, m)];
    const edgeShares = withEdges ? [reader.signed(top, e), reader.signed(top, f)] : null;
    const best = [], mass = [];
    for (const count of [n, m]) {
      best.push(reader.many(count, reader.u2));
      mass.push(reader.many(count, reader.u1).map((value) => value / 255));
    }
    const terms = [];
    for (let t = reader.u1(); t > 0; t--) terms.push({ name: terms_[reader.u2()], share: reader.f4() });
    let evidence = null;
    if (reader.u1()) {
      evidence = { towards: reader.i2(), against: reader.i2(), change: reader.f4() };
      evidence.top = reader.f4();
      evidence.nodes = [reader.signed(evidence.top, n), reader.signed(evidence.top, m)];
    }
    return { distance, top, shares, edgeShares, best, mass, terms, evidence };
  }
}

function turnedRound(found) {
  const swap = (pair) => pair && [pair[1], pair[0]];
  const evidence = found.evidence && { ...found.evidence, nodes: swap(found.evidence.nodes), turned: true };
  return { ...found, shares: swap(found.shares), edgeShares: swap(found.edgeShares), best: swap(found.best), mass: swap(found.mass), evidence };
}

class Data {
  constructor(given) {
    this.given = given;
    this.count = given.names.length;
    this.names = given.names;
    this.target = given.target;
    this.drawings = new Drawings(given.drawings);
    this.explained = new Explained(given.explained, this.drawings);
    const map = unpack(given.map, 'u2');
    this.x = new Float32Array(this.count);
    this.y = new Float32Array(this.count);
    for (let i = 0; i < this.count; i++) { this.x[i] = map[2 * i] / 65535; this.y[i] = map[2 * i + 1] / 65535 }
    const near = given.near;
    this.near = {
      k: near.k, ids: unpack(near.ids, near.wide), distances: unpack(near.distances, 'f4'),
      own: unpack(near.own, near.wide), ownDistances: unpack(near.ownDistances, 'f4'),
      other: unpack(near.other, near.wide), otherDistances: unpack(near.otherDistances, 'f4'),
      nobody: near.wide === 'u2' ? 65535 : 4294967295,
    };
    this.kept = new Map();
  }

  graph(i) {
    if (!this.kept.has(i)) {
      if (this.kept.size > 400) this.kept.clear();
      this.kept.set(i, this.drawings.get(i));
    }
    return this.kept.get(i);
  }

  neighbours(i) {
    const near = this.near, found = [];
    for (let r = 0; r < near.k; r++) found.push({ id: near.ids[i * near.k + r], distance: near.distances[i * near.k + r], why: '' });
    const listed = new Set(found.map((one) => one.id));
    const more = [[near.own, near.ownDistances, 'nearest of its own class'], [near.other, near.otherDistances, 'nearest of another class']];
    for (const [ids, distances, why] of more) {
      if (ids[i] !== near.nobody && !listed.has(ids[i])) found.push({ id: ids[i], distance: distances[i], why });
    }
    return found;
  }

  isWrong(i) {
    const { kind, values, predicted } = this.target;
    return kind === 'classes' && Boolean(values && predicted) && values[i] >= 0 && predicted[i] >= 0 && values[i] !== predicted[i];
  }

  // How far off a predicted number is.
  error(i) {
    const { kind, values, predicted } = this.target;
    return kind === 'numbers' && values && predicted && values[i] !== null && predicted[i] !== null ? Math.abs(values[i] - predicted[i]) : null;
  }

  inWords(value) {
    if (value === null || value === undefined) return 'unknown';
    if (this.target.kind === 'classes') return value < 0 ? 'unknown' : this.target.classes[value];
    return shortNumber(value);
  }
}

function shortNumber(value) {
  return Number(value.toPrecision(3)).toString().replace('-', '−');
}

// "1 node", "2,000 nodes".
function counted(count, what) {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}

function percent(share) {
  const value = Math.abs(share) < 0.0005 ? 0 : 100 * share;
  const text = value === 0 || Math.abs(value) >= 9.95 ? value.toFixed(0) : value.toFixed(1);
  return `${text.replace('-', '−')} %`;
}
