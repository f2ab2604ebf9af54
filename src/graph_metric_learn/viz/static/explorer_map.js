// The map: all graphs as points on a canvas, with pan, zoom, pinch and keys.

const FEW = 70; // points in sight up to which graphs are drawn in place of points

class MapView {
  constructor(canvas, data, { onChoose, onHover }) {
    Object.assign(this, { canvas, data, onChoose, onHover });
    this.context = canvas.getContext('2d');
    this.chosen = -1;
    this.other = -1;
    this.shown = new Uint8Array(data.count).fill(1);
    this.colours = null;
    this.shapes = null;
    this.pointers = new Map();
    this.moved = 0;
    this.fit();
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, (event) => this.up(event));
    canvas.addEventListener('pointerleave', () => this.onHover(-1));
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...this.position(event));
    }, { passive: false });
    canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas, ratio = window.devicePixelRatio || 1;
    if (!width || !height) return;
    const first = !this.width;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (first) this.fit();
    this.draw();
  }

  fit() {
    this.scale = 1;
    this.centreX = 0.5;
    this.centreY = 0.5;
    this.draw();
  }

  // Pixels from one side of the map to the other.
  get unitX() { return this.scale * Math.max(60, this.width - 80) }
  get unitY() { return this.scale * Math.max(60, this.height - 110) }
  toScreen(i) {
    return [this.width / 2 + (this.data.x[i] - this.centreX) * this.unitX, this.height / 2 - 12 + (this.data.y[i] - this.centreY) * this.unitY];
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = [this.unitX, this.unitY];
    this.scale = Math.max(0.5, Math.min(200, this.scale * factor));
    this.centreX += (x - this.width / 2) * (1 / before[0] - 1 / this.unitX);
    this.centreY += (y - this.height / 2 + 12) * (1 / before[1] - 1 / this.unitY);
    this.draw();
  }

  show(i) {
    const [x, y] = this.toScreen(i);
    if (x < 20 || y < 20 || x > this.width - 20 || y > this.height - 20) {
      this.centreX = this.data.x[i];
      this.centreY = this.data.y[i];
    }
    this.draw();
  }

  position(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  nearest(x, y, most = 22) {
    let best = -1, least = most * most;
    for (let i = 0; i < this.data.count; i++) {
      if (!this.shown[i]) continue;
      const [px, py] = this.toScreen(i), away = (px - x) ** 2 + (py - y) ** 2;
      if (away < least) { least = away; best = i }
    }
    return best;
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.position(event));
    if (this.pointers.size === 1) this.moved = 0;
  }

  move(event) {
    const [x, y] = this.position(event);
    if (!this.pointers.has(event.pointerId)) { this.onHover(this.nearest(x, y, 14), x, y); return }
    const [oldX, oldY] = this.pointers.get(event.pointerId);
    if (this.pointers.size === 2) {
      const [still] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const before = Math.hypot(oldX - still[0], oldY - still[1]), after = Math.hypot(x - still[0], y - still[1]);
      this.moved += 10;
      if (before > 0) this.zoom(after / before, still[0], still[1]);
    } else {
      this.moved += Math.abs(x - oldX) + Math.abs(y - oldY);
      if (this.moved > 4) {
        this.centreX -= (x - oldX) / this.unitX;
        this.centreY -= (y - oldY) / this.unitY;
        this.draw();
      }
    }
    this.pointers.set(event.pointerId, [x, y]);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId) || this.pointers.size) return;
    if (event.type === 'pointerup' && this.moved <= 4) {
      const found = this.nearest(...this.position(event));
      if (found >= 0) this.onChoose(found);
    }
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in ways && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const found = this.next(...ways[event.key]);
      if (found >= 0) this.onChoose(found, true);
    } else if (event.key === '+' || event.key === '=') this.zoom(1.4);
    else if (event.key === '-') this.zoom(1 / 1.4);
    else if (event.key === '0') this.fit();
  }

  // The nearest graph to the chosen one that lies mainly in this direction.
  next(dx, dy) {
    const [x, y] = this.chosen >= 0 ? this.toScreen(this.chosen) : [this.width / 2 - dx, this.height / 2 - dy];
    let best = -1, least = Infinity;
    for (let i = 0; i < this.data.count; i++) {
      if (!this.shown[i] || i === this.chosen) continue;
      const [px, py] = this.toScreen(i), along = (px - x) * dx + (py - y) * dy, across = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      if (along <= 0 || across > 1.2 * along) continue;
      const away = along + 1.5 * across;
      if (away < least) { least = away; best = i }
    }
    return best >= 0 || this.chosen >= 0 ? best : this.nearest(x, y, Infinity);
  }

  draw() {
    if (!this.width || this.planned) return;
    this.planned = true;
    requestAnimationFrame(() => { this.planned = false; this.paint() });
  }

  paint() {
    const { context, data } = this, style = getComputedStyle(this.canvas);
    const ink = style.getPropertyValue('--ink'), card = style.getPropertyValue('--card'), soft = style.getPropertyValue('--soft');
    context.clearRect(0, 0, this.width, this.height);
    const inSight = [];
    for (let i = 0; i < data.count; i++) {
      const [x, y] = this.toScreen(i);
      if (x > -30 && y > -30 && x < this.width + 30 && y < this.height + 30) inSight.push(i);
    }
    const asGraphs = inSight.length <= FEW && this.scale > 1.3;
    const radius = Math.max(2.2, Math.min(7, 2.2 + 26 / Math.sqrt(data.count) + Math.log2(this.scale)));
    context.lineWidth = 0.8;
    for (const lit of [0, 1]) {
      for (const i of inSight) {
        if (this.shown[i] !== lit) continue;
        const [x, y] = this.toScreen(i);
        context.globalAlpha = lit ? 1 : 0.12;
        context.fillStyle = this.colours ? this.colours[i] : soft;
        context.strokeStyle = ink;
        if (asGraphs && lit && data.drawings.isDrawn(i)) {
          this.box(x, y, 46, card);
          sketchGraph(context, data.graph(i), x - 19, y - 19, 38, ink);
          context.fillStyle = this.colours ? this.colours[i] : soft;
          this.point(x + 18, y - 18, 4.5, this.shapes ? this.shapes[i] : 0);
        } else this.point(x, y, radius, this.shapes ? this.shapes[i] : 0);
      }
    }
    context.globalAlpha = 1;
    if (this.chosen >= 0) {
      const [x, y] = this.toScreen(this.chosen);
      context.strokeStyle = soft;
      context.lineWidth = 1;
      for (const { id } of data.neighbours(this.chosen)) {
        const [px, py] = this.toScreen(id);
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(px, py);
        context.stroke();
      }
      this.ring(x, y, asGraphs ? 28 : radius + 4, ink, 2.5);
      if (this.other >= 0) this.ring(...this.toScreen(this.other), asGraphs ? 28 : radius + 4, style.getPropertyValue('--focus'), 2.5);
    }
  }

  box(x, y, side, card) {
    const { context } = this;
    context.fillStyle = card;
    context.globalAlpha = 0.88;
    context.beginPath();
    context.roundRect(x - side / 2, y - side / 2, side, side, 6);
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 0.6;
    context.stroke();
  }

  ring(x, y, radius, colour, width) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = width;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 7);
    this.context.stroke();
  }

  point(x, y, r, kind) {
    const { context } = this;
    context.lineWidth = 0.7;
    context.beginPath();
    if (kind === 0) context.arc(x, y, r, 0, 7);
    else if (kind === 1) context.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
    else if (kind === 2) { context.moveTo(x, y - 1.15 * r); context.lineTo(x + 1.1 * r, y + 0.85 * r); context.lineTo(x - 1.1 * r, y + 0.85 * r); context.closePath() }
    else { context.moveTo(x, y - 1.25 * r); context.lineTo(x + 1.25 * r, y); context.lineTo(x, y + 1.25 * r); context.lineTo(x - 1.25 * r, y); context.closePath() }
    context.fill();
    context.stroke();
  }
}
