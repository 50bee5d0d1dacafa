"use strict";
// Draws the nodes and edges that the page lists, and walks along them. Texts are drawn, never markup.
(() => {
  const LARGEST = 2000; // nodes on the drawing; a walk beyond begins anew
  const REACH = 60, SPRING = 40, NODE = 6;

  const layout = () => {
    const nodes = new Map();
    let edges = [], heat = 0;

    const place = (node, near) => {
      const angle = nodes.size * 2.39996; // the golden angle: no two at one place
      const far = near ? SPRING : 8 * Math.sqrt(nodes.size);
      Object.assign(node, { x: (near?.x ?? 0) + far * Math.cos(angle), y: (near?.y ?? 0) + far * Math.sin(angle), vx: 0, vy: 0, beside: new Set() });
      nodes.set(node.id, node);
    };

    const add = (data) => {
      if (nodes.size + data.nodes.length > LARGEST) { nodes.clear(); edges = []; }
      const near = nodes.get(data.focus);
      for (const node of data.nodes) if (!nodes.has(node.id)) place(node, near);
      const seen = new Set(edges.map((each) => each.key));
      for (const edge of data.edges) {
        const [source, target] = [nodes.get(edge.from), nodes.get(edge.to)];
        const key = `${edge.from} ${edge.relation} ${edge.to}`;
        if (!source || !target || seen.has(key)) continue;
        seen.add(key);
        edges.push({ key, source, target, relation: edge.relation });
        source.beside.add(target);
        target.beside.add(source);
      }
      heat = 1;
    };

    // Nodes push those in their own and the neighbouring cells; edges pull; all lean to the middle.
    const push = () => {
      const cells = new Map();
      for (const node of nodes.values()) {
        const key = Math.floor(node.x / REACH) * 65_536 + Math.floor(node.y / REACH);
        node.cell = key;
        const cell = cells.get(key);
        if (cell) cell.push(node); else cells.set(key, [node]);
      }
      for (const node of nodes.values()) {
        for (const step of [-65_537, -65_536, -65_535, -1, 0, 1, 65_535, 65_536, 65_537]) {
          for (const other of cells.get(node.cell + step) ?? []) {
            if (other === node) continue;
            const dx = node.x - other.x, dy = node.y - other.y;
            const distance = Math.max(4, dx * dx + dy * dy);
            if (distance > REACH * REACH) continue;
            const force = 160 * heat / distance;
            node.vx += dx * force;
            node.vy += dy * force;
          }
        }
      }
    };

    const step = () => {
      if (heat < 0.02) return false;
      push();
      for (const { source, target } of edges) {
        const dx = target.x - source.x, dy = target.y - source.y;
        const distance = Math.hypot(dx, dy) || 1;
        const pull = 0.12 * heat * (distance - SPRING) / distance / Math.sqrt(Math.min(source.beside.size, target.beside.size) || 1);
        source.vx += dx * pull; source.vy += dy * pull;
        target.vx -= dx * pull; target.vy -= dy * pull;
      }
      for (const node of nodes.values()) {
        node.vx = (node.vx - node.x * 0.004 * heat) * 0.6;
        node.vy = (node.vy - node.y * 0.004 * heat) * 0.6;
        node.x += Math.max(-30, Math.min(30, node.vx));
        node.y += Math.max(-30, Math.min(30, node.vy));
      }
      heat *= 0.985;
      return true;
    };

    return { nodes, add, step, edges: () => edges, settle: () => { for (let times = 0; times < 500 && step(); times += 1); } };
  };

  const drawing = (canvas) => {
    const graph = layout();
    const context = canvas.getContext("2d");
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const view = { x: 0, y: 0, scale: 1, fits: true };
    let focus = null, chosen = null, running = false;
    const chosenText = document.getElementById("chosen");
    const walkThere = document.getElementById("walk-there");
    const openIt = document.getElementById("open-it");

    const sized = () => {
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
      if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
      return ratio;
    };

    const fit = () => {
      let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
      for (const { x, y } of graph.nodes.values()) {
        left = Math.min(left, x); right = Math.max(right, x);
        top = Math.min(top, y); bottom = Math.max(bottom, y);
      }
      if (left > right) return;
      view.scale = Math.min(2, (canvas.clientWidth - 60) / (right - left + 1), (canvas.clientHeight - 60) / (bottom - top + 1));
      view.x = canvas.clientWidth / 2 - view.scale * (left + right) / 2;
      view.y = canvas.clientHeight / 2 - view.scale * (top + bottom) / 2;
    };

    const shape = (node, size) => {
      if (["Document", "Section", "Chunk", "Report"].includes(node.label)) context.rect(node.x - size, node.y - size, 2 * size, 2 * size);
      else { context.moveTo(node.x + size, node.y); context.arc(node.x, node.y, size, 0, 6.2832); }
    };

    // A label that would lie on another one is left out; those that matter come first.
    let taken = [];
    const caption = (node, weight, colour) => {
      context.font = `${weight} ${13 / view.scale}px system-ui, sans-serif`;
      context.fillStyle = colour;
      const text = node.text.length > 32 ? `${node.text.slice(0, 31)}…` : node.text;
      const [left, base] = [node.x + (NODE + 3) / view.scale, node.y + 4 / view.scale];
      const box = [left, base - 12 / view.scale, left + context.measureText(text).width, base + 4 / view.scale];
      if (taken.some((each) => box[0] < each[2] && each[0] < box[2] && box[1] < each[3] && each[1] < box[3])) return;
      taken.push(box);
      context.fillText(text, left, base);
    };

    const draw = () => {
      const ratio = sized();
      if (view.fits) fit();
      const style = getComputedStyle(canvas);
      const colours = { text: style.color, line: style.borderTopColor, link: style.textDecorationColor, quiet: style.columnRuleColor };
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
      context.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
      context.lineWidth = 1 / view.scale;
      context.strokeStyle = colours.line;
      context.beginPath();
      for (const { source, target } of graph.edges()) { context.moveTo(source.x, source.y); context.lineTo(target.x, target.y); }
      context.stroke();
      const size = Math.max(2.5, Math.min(NODE, NODE * view.scale)) / view.scale;
      const kinds = { fill: [], ring: [], rest: [] };
      for (const node of graph.nodes.values()) {
        const kind = node.label === "Entity" ? "ring" : ["Memory", "Document", "Section", "Chunk", "Report"].includes(node.label) ? "fill" : "rest";
        kinds[kind].push(node);
      }
      context.fillStyle = colours.link;
      context.beginPath();
      for (const node of kinds.fill) shape(node, size);
      context.fill();
      context.fillStyle = colours.quiet;
      context.beginPath();
      for (const node of kinds.rest) shape(node, size * 0.6);
      context.fill();
      context.strokeStyle = colours.text;
      context.lineWidth = 2 / view.scale;
      context.beginPath();
      for (const node of kinds.ring) shape(node, size);
      context.stroke();
      marked(colours, size);
    };

    const marked = (colours, size) => {
      const named = new Set(graph.nodes.size <= 40 ? graph.nodes.values() : []);
      for (const node of [...(chosen?.beside ?? focus?.beside ?? [])].slice(0, 40)) named.add(node);
      taken = [];
      for (const [node, far] of [[focus, 2], [chosen, 3.2]]) {
        if (!node || (far === 3.2 && node === focus)) continue;
        context.strokeStyle = colours.link;
        context.lineWidth = 2 / view.scale;
        context.beginPath();
        context.arc(node.x, node.y, size * far, 0, 6.2832);
        context.stroke();
        caption(node, 700, colours.text);
      }
      for (const node of named) if (node !== focus && node !== chosen) caption(node, 400, colours.quiet);
    };

    const frame = () => {
      const moved = graph.step();
      draw();
      canvas.dataset.frames = Number(canvas.dataset.frames ?? 0) + 1;
      running = moved && canvas.isConnected;
      if (running) requestAnimationFrame(frame);
    };
    const start = () => {
      if (still) graph.settle();
      if (!running) { running = true; requestAnimationFrame(frame); }
    };

    const choose = (node) => {
      chosen = node;
      walkThere.hidden = !node || node === focus;
      openIt.hidden = !node;
      if (node) openIt.href = node.page;
      chosenText.textContent = node ? `${node.label}: ${node.text} — ${node.beside.size} beside it` : "";
      start();
    };

    const spot = (event) => {
      const box = canvas.getBoundingClientRect();
      return [(event.clientX - box.left - view.x) / view.scale, (event.clientY - box.top - view.y) / view.scale];
    };
    const nearest = ([x, y]) => {
      let [best, least] = [null, 18 / view.scale];
      for (const node of graph.nodes.values()) {
        const distance = Math.hypot(node.x - x, node.y - y);
        if (distance < least) [best, least] = [node, distance];
      }
      return best;
    };

    // The nearest node in a direction, of those beside the chosen one where there is one.
    const towards = (dx, dy) => {
      const from = chosen ?? focus ?? graph.nodes.values().next().value;
      const score = (node) => {
        const along = (node.x - from.x) * dx + (node.y - from.y) * dy;
        const across = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
        return along > 0 ? along + 2 * across : Infinity;
      };
      for (const nodes of [from.beside, graph.nodes.values()]) {
        const [best] = [...nodes].filter((node) => node !== from && score(node) < Infinity).sort((a, b) => score(a) - score(b));
        if (best) return choose(best);
      }
    };

    const zoom = (factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
      view.fits = factor === 0;
      if (factor) {
        const scale = Math.max(0.02, Math.min(6, view.scale * factor));
        view.x = x - (x - view.x) * scale / view.scale;
        view.y = y - (y - view.y) * scale / view.scale;
        view.scale = scale;
      }
      start();
    };

    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.moved && Math.hypot(dx, dy) < 5) return;
      view.fits = false;
      view.x += dx; view.y += dy;
      held = { x: event.clientX, y: event.clientY, moved: true };
      start();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) {
        const node = nearest(spot(event));
        if (node && node === chosen) walk(node.id); else choose(node);
      }
      held = null;
    });
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.15 : 0.87, event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (ways[event.key]) towards(...ways[event.key]);
      else if (event.key === "Enter" && chosen) walk(chosen.id);
      else if (event.key === "Escape") choose(focus);
      else if (event.key === "+" || event.key === "=") zoom(1.4);
      else if (event.key === "-") zoom(0.7);
      else if (event.key === "0") zoom(0);
      else return;
      event.preventDefault();
    });
    walkThere.addEventListener("click", () => chosen && walk(chosen.id));
    for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
    new ResizeObserver(start).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", start);

    const show = (data) => {
      graph.add(data);
      focus = graph.nodes.get(data.focus) ?? null;
      choose(focus);
      canvas.dataset.nodes = graph.nodes.size;
    };
    return { show };
  };

  const canvas = document.getElementById("drawing");
  const drawn = document.getElementById("drawn");
  let picture = null;

  const read = async (url) => {
    const answer = await window.cairnAsk(url);
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  };

  // A walk: the drawing grows, the list below is the new node's, and the address is its own.
  const walk = async (id) => {
    const page = new URL(location.href);
    page.searchParams.delete("q");
    page.searchParams.set("node", id);
    const data = new URL(page);
    data.pathname = "/console/graph/data";
    try {
      const around = await read(data);
      await htmx.ajax("GET", page.pathname + page.search, { target: "#around", select: "#around", swap: "outerHTML" });
      history.pushState({}, "", page);
      const field = document.querySelector("#walk [name=node]");
      if (field) field.value = id;
      picture.show(around);
    } catch { location.assign(page); }
  };
  window.addEventListener("popstate", () => location.reload());

  document.getElementById("as_of")?.addEventListener("change", (event) => event.target.form.requestSubmit());
  // Another question is another start: the node where the walk stood is left.
  document.getElementById("q")?.addEventListener("input", () => document.querySelector("#walk [name=node]")?.remove());

  if (!drawn) return;
  drawn.hidden = false;
  picture = drawing(canvas);
  read(drawn.dataset.from).then((data) => picture.show(data)).catch(() => { drawn.hidden = true; });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#around a[data-node]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    walk(link.dataset.node);
  });
})();
