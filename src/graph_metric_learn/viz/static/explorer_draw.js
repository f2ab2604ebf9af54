// Colours and drawings. Elements are made one by one; text goes in as text, never as HTML.

const SVG = 'http://www.w3.org/2000/svg';
const CLASS_COLOURS = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#F0E442', '#8a8f98']; // Okabe and Ito
const VIRIDIS = ['#440154', '#482878', '#3e4989', '#31688e', '#26828e', '#1f9e89', '#35b779', '#6ece58', '#b5de2b', '#fde725'];
const DIVERGING = {
  light: [[94, 60, 153], [232, 232, 232], [230, 97, 1]],
  dark: [[176, 150, 240], [62, 71, 84], [255, 150, 50]],
};

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key === 'text') made.textContent = value;
    else if (key === 'on') for (const [event, run] of Object.entries(value)) made.addEventListener(event, run);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const isDark = () => document.documentElement.dataset.theme === 'dark';

function hex(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

const css = (rgb) => `rgb(${rgb.map(Math.round).join(',')})`;

function mix(one, two, part) {
  return one.map((value, i) => value + part * (two[i] - value));
}

// Of a value between −1 and 1.
function diverging(value) {
  const [low, middle, high] = DIVERGING[isDark() ? 'dark' : 'light'];
  const bounded = Math.max(-1, Math.min(1, value));
  return mix(middle, bounded < 0 ? low : high, Math.abs(bounded));
}

// Of a value between 0 and 1.
function viridis(part) {
  const at = Math.max(0, Math.min(0.9999, part)) * (VIRIDIS.length - 1);
  return mix(hex(VIRIDIS[Math.floor(at)]), hex(VIRIDIS[Math.floor(at) + 1]), at - Math.floor(at));
}

const classColour = (code) => CLASS_COLOURS[code % CLASS_COLOURS.length];
const classShape = (code) => Math.floor(code / CLASS_COLOURS.length) % 4;

// Black or white, whichever is easier to read on a colour.
function inkOn(rgb) {
  const [r, g, b] = rgb.map((value) => { const part = value / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4 });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff';
}

// A small mark of a class: colour and, from the ninth class on, shape.
function mark(code) {
  const svg = shape('svg', { viewBox: '0 0 12 12', 'aria-hidden': 'true' });
  const style = { fill: classColour(code), stroke: 'var(--ink)', 'stroke-width': 0.8 };
  const kinds = [
    () => shape('circle', { cx: 6, cy: 6, r: 5, ...style }),
    () => shape('rect', { x: 1.5, y: 1.5, width: 9, height: 9, ...style }),
    () => shape('path', { d: 'M6 1L11 10.5H1Z', ...style }),
    () => shape('path', { d: 'M6 .5L11.5 6L6 11.5L.5 6Z', ...style }),
  ];
  svg.append(kinds[classShape(code)]());
  return svg;
}

function chip(data, code) {
  const text = data.inWords(code);
  const coded = data.target.kind === 'classes' && code !== null && code >= 0;
  return element('span', { class: 'chip' }, coded ? mark(code) : null, element('span', { text }));
}

// Length of a typical edge in the unit square, which all sizes in a drawing follow.
function typicalEdge(graph) {
  const lengths = graph.edges.map(({ a, b }) => Math.hypot(graph.nodes[a].x - graph.nodes[b].x, graph.nodes[a].y - graph.nodes[b].y));
  lengths.sort((one, two) => one - two);
  const middle = lengths.length ? lengths[Math.floor(lengths.length / 2)] : 0.4;
  return Math.max(0.02, Math.min(middle || 0.02, 1.2 / Math.sqrt(graph.nodes.length)));
}

// A graph as SVG. Options: alt; shades (per node, −1 to 1); edgeShades; rings (node -> {colour, text}); onNode.
function drawGraph(graph, { alt, shades, edgeShades, rings, onNode, small = false } = {}) {
  const pad = small ? 6 : 7, side = 100 - 2 * pad;
  const svg = shape('svg', { viewBox: '0 0 100 100', role: 'img', class: 'drawing', 'aria-label': graph.undrawn ? `no ${alt}` : alt });
  if (graph.undrawn) {
    svg.append(shape('rect', { x: 12, y: 34, width: 76, height: 32, rx: 6, fill: 'none', stroke: 'var(--edge)', 'stroke-dasharray': '3 3' }));
    svg.append(shape('text', { x: 50, y: 50, 'font-size': small ? 15 : 8, class: 'written' }, 'not drawn'));
    return svg;
  }
  const unit = typicalEdge(graph) * side;
  const at = (node) => [pad + side * node.x, pad + side * node.y];
  const radius = Math.max(0.7, Math.min(3.4, 0.2 * unit));
  const line = Math.max(0.3, Math.min(graph.atoms ? 1 : 0.6, (graph.atoms ? 0.07 : 0.05) * unit));
  const halo = graph.atoms ? Math.max(1.6, Math.min(4.6, 0.4 * unit)) : radius * 1.25;
  graph.edges.forEach((edge, e) => {
    const [x1, y1] = at(graph.nodes[edge.a]), [x2, y2] = at(graph.nodes[edge.b]);
    const value = edgeShades ? edgeShades[e] : 0;
    if (Math.abs(value) > 0.02) {
      svg.append(shape('line', { x1, y1, x2, y2, stroke: css(diverging(value)), 'stroke-width': line * 2 + 0.45 * unit * Math.min(1, 0.3 + Math.abs(value)), 'stroke-linecap': 'round' }));
    }
  });
  if (graph.atoms && shades) {
    graph.nodes.forEach((node, n) => {
      const [cx, cy] = at(node);
      if (Math.abs(shades[n]) > 0.01) svg.append(shape('circle', { cx, cy, r: halo, fill: css(diverging(shades[n])) }));
    });
  }
  for (const edge of graph.edges) {
    const [x1, y1] = at(graph.nodes[edge.a]), [x2, y2] = at(graph.nodes[edge.b]);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const aside = [-(y2 - y1) / length, (x2 - x1) / length].map((part) => part * Math.max(0.45, 0.055 * unit));
    for (let l = 0; l < edge.order; l++) {
      const shift = 2 * l - edge.order + 1;
      svg.append(shape('line', {
        x1: x1 + shift * aside[0], y1: y1 + shift * aside[1], x2: x2 + shift * aside[0], y2: y2 + shift * aside[1],
        stroke: graph.atoms ? 'var(--ink)' : 'var(--edge)', 'stroke-width': graph.atoms ? line : line * (0.4 + 0.9 * edge.width),
      }));
    }
    if (graph.directed) arrow(svg, x1, y1, x2, y2, radius, line);
  }
  graph.nodes.forEach((node, n) => {
    const [cx, cy] = at(node);
    if (!graph.atoms) {
      const r = node.weight >= 0 ? radius * (0.45 + 0.95 * node.weight) : radius;
      const fill = shades ? css(diverging(shades[n])) : graph.fewLabels ? classColour(node.labelCode) : 'var(--ink)';
      svg.append(shape('circle', { cx, cy, r: shades ? Math.max(r, radius * 0.8) : r, fill, stroke: 'var(--ink)', 'stroke-width': shades ? 0.3 : 0.15 }));
    } else if (node.symbol) {
      const size = Math.max(2.6, Math.min(8, 0.52 * unit)), shaded = shades && Math.abs(shades[n]) > 0.01;
      const rgb = shaded ? diverging(shades[n]) : null;
      if (shaded) svg.append(shape('circle', { cx, cy, r: halo, fill: css(rgb) }));
      const style = shaded ? { fill: inkOn(rgb) } : { class: 'written', 'stroke-width': size * 0.35 };
      svg.append(shape('text', { x: cx, y: cy, 'font-size': size, 'font-weight': 600, ...style }, node.symbol));
    }
    if (rings && rings.has(n)) {
      const ring = rings.get(n), r = (graph.atoms ? halo : radius) + 0.9;
      svg.append(shape('circle', { cx, cy, r, fill: 'none', stroke: ring.colour, 'stroke-width': 0.9, class: 'ring' }));
      const size = Math.max(2.8, Math.min(4, 0.4 * unit));
      svg.append(shape('text', { x: cx + r * 0.95, y: cy - r * 0.95, 'font-size': size, 'font-weight': 700, class: 'written', 'stroke-width': 1 }, ring.text));
    }
  });
  if (onNode) {
    graph.nodes.forEach((node, n) => {
      const [cx, cy] = at(node);
      const hit = shape('circle', { cx, cy, r: Math.max(2.2, radius * 1.6), class: 'node-hit', 'data-node': n });
      hit.addEventListener('pointerenter', () => onNode(n));
      hit.addEventListener('click', () => onNode(n));
      svg.append(hit);
    });
  } else if (!small) {
    graph.nodes.forEach((node) => {
      const [cx, cy] = at(node);
      const hit = shape('circle', { cx, cy, r: Math.max(2.2, radius * 1.6), class: 'node-hit' });
      hit.append(shape('title', {}, node.label && node.label !== node.name && !graph.atoms ? `${node.name} (${node.label})` : node.name));
      svg.append(hit);
    });
  }
  return svg;
}

function arrow(svg, x1, y1, x2, y2, radius, line) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1, ux = (x2 - x1) / length, uy = (y2 - y1) / length;
  const tip = [x2 - ux * radius, y2 - uy * radius], size = 3 * line + 0.8;
  const back = [tip[0] - ux * size, tip[1] - uy * size];
  const d = `M${tip[0]} ${tip[1]}L${back[0] - uy * size / 2} ${back[1] + ux * size / 2}L${back[0] + uy * size / 2} ${back[1] - ux * size / 2}Z`;
  svg.append(shape('path', { d, fill: 'var(--edge)' }));
}

// The same, roughly, on a canvas: for the map when it is near.
function sketchGraph(context, graph, left, top, side, ink) {
  context.strokeStyle = ink;
  context.fillStyle = ink;
  context.lineWidth = 0.8;
  context.beginPath();
  for (const { a, b } of graph.edges) {
    context.moveTo(left + side * graph.nodes[a].x, top + side * graph.nodes[a].y);
    context.lineTo(left + side * graph.nodes[b].x, top + side * graph.nodes[b].y);
  }
  context.stroke();
  const radius = Math.max(0.6, 0.14 * typicalEdge(graph) * side);
  for (const node of graph.nodes) {
    if (graph.atoms && !node.symbol) continue;
    context.beginPath();
    context.arc(left + side * node.x, top + side * node.y, node.weight >= 0 ? radius * (0.5 + node.weight) : radius, 0, 7);
    context.fill();
  }
}
