// Draws memory: a bar to scale for each device, and the same figures as a table.
// Devices are those of kbgen.answer: {name, memory, verdict, says, parts}, with parts {name, label, low, high, basis,
// anchor}: bytes from `low` to `high`, or null if unknown.
(() => {
  "use strict";
  const { t } = kbgen;
  const words = kbgen.answer;
  const GIB = 1073741824;
  const SVG = "http://www.w3.org/2000/svg";
  const whole = words.whole;
  const gib = words.gib;
  const gb = words.gb;
  const range = words.range;

  function el(name, text, kind) {
    const element = document.createElement(name);
    if (text != null) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }
  function svgElement(name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text != null) element.textContent = text;
    return element;
  }
  const sum = (parts, end) => parts.reduce((all, part) => all + (part[end] || 0), 0);

  // Steps of the scale in GiB, about one label per 60 pixels.
  function scaleOf(longest, width) {
    let step = 0.25;
    while ((longest / GIB / step) * 60 > width) step *= 2;
    return step;
  }
  function bar(device, longest, tall) {
    const svg = svgElement("svg", { class: "bar", width: "100%", height: tall + 38, role: "img" });
    const top = 8;
    let x = 0;
    const width = document.getElementById("bars").clientWidth || 600;
    const used = sum(device.parts, "high") || sum(device.parts, "low");
    const percent = n => `${((n / longest) * 100).toFixed(3)}%`;
    const block = (name, from, bytes) => {
      if (bytes > 0) {
        svg.appendChild(
          svgElement("rect", {
            class: `seg seg-${name}`,
            x: percent(from),
            y: top,
            width: percent(bytes),
            height: tall,
          }),
        );
      }
    };
    // Certain parts first, then optional ones, so that the bar ends at the worst case.
    device.parts.forEach(part => {
      if (part.low === null) return;
      block(part.name, x, part.low);
      if (part.tag && (part.low / longest) * width > part.tag.length * 9 + 16) {
        svg.appendChild(
          svgElement("text", { class: `tag tag-${part.name}`, x: percent(x), dx: 9, y: top + tall / 2 + 5 }, part.tag),
        );
      }
      x += part.low;
      if (part.high > part.low) {
        block(`maybe-${part.name}`, x, part.high - part.low);
        x += part.high - part.low;
      }
    });
    if (used > device.memory) block("over", device.memory, used - device.memory);
    else block("free", used, device.memory - used);
    const step = scaleOf(longest, width);
    const end = Math.max(used, device.memory);
    for (let at = 0; at * GIB <= end; at += step) {
      const last = at * GIB > longest * 0.96;
      svg.appendChild(
        svgElement("rect", { class: "tick", x: percent(at * GIB), y: top + tall + 3, width: 1, height: 6 }),
      );
      svg.appendChild(
        svgElement(
          "text",
          {
            class: "scale",
            x: percent(at * GIB),
            y: top + tall + 24,
            "text-anchor": at === 0 ? "start" : last ? "end" : "middle",
          },
          at + (at === 0 ? " GiB" : ""),
        ),
      );
    }
    svg.appendChild(
      svgElement("rect", {
        class: "limit",
        x: percent(device.memory),
        y: 0,
        width: 3,
        height: tall + 2 * top,
        transform: "translate(-3)",
      }),
    );
    svg.setAttribute(
      "aria-label",
      `${device.name}: ${device.parts
        .filter(part => part.low)
        .map(part => `${part.label} ${range(part.low, part.high, gib)} GiB`)
        .join(", ")}${t(", of {n} GiB", { n: gib(device.memory) })}`,
    );
    return svg;
  }
  function bars(devices) {
    const place = document.getElementById("bars");
    const several = devices.length > 1;
    const longest = Math.max(...devices.map(device => Math.max(device.memory, sum(device.parts, "high")))) || 1;
    place.replaceChildren();
    devices.forEach(device => {
      if (several) {
        const head = place.appendChild(el("p", null, "bar-head"));
        head.append(el("b", device.name), " ", el("span", device.says, `verdict verdict-${device.verdict}`));
      }
      place.appendChild(bar(device, longest, several ? 36 : 60));
    });
  }

  function headCell(text, kind) {
    const cell = el("th", text, kind);
    cell.scope = "col";
    return cell;
  }
  function basis(part, methodology) {
    const cell = el("td", null, "basis");
    if (!part.basis) return cell;
    if (!part.anchor || !methodology) {
      cell.textContent = part.basis;
      return cell;
    }
    const link = cell.appendChild(el("a", part.basis));
    link.href = `${methodology}#${part.anchor}`;
    return cell;
  }
  // One device: columns in GiB and GB. Several: a column in GiB for each, and the total in both units.
  function table(devices, methodology) {
    const several = devices.length > 1;
    const head = el("tr");
    const body = document.getElementById("parts");
    head.appendChild(headCell(t("Part")));
    if (several) {
      devices.forEach((device, i) => {
        head.appendChild(headCell(String(i + 1) + (device.short ? ` ${device.short}` : ""), "num"));
      });
    }
    head.append(
      headCell(several ? t("Total, GiB") : "GiB", "num"),
      headCell(several ? t("Total, GB") : "GB", "num"),
      headCell(t("Accuracy"), "basis"),
    );
    document.getElementById("legend-head").replaceChildren(head);
    document.getElementById("legend").classList.toggle("several", several);
    body.replaceChildren();
    // `figures`: [low, high] for each device.
    const line = (part, figures, kind) => {
      const row = el("tr", null, kind);
      const name = el("th");
      const key = svgElement("svg", { class: "key", width: 18, height: 18, "aria-hidden": "true" });
      const all = figures.reduce((sum, each) => [add(sum[0], each[0]), add(sum[1], each[1])], [0, 0]);
      name.scope = "row";
      if (part.name) {
        key.appendChild(svgElement("rect", { class: `seg seg-${part.name}`, width: 18, height: 18 }));
        name.appendChild(key);
      }
      name.appendChild(document.createTextNode(part.label));
      row.appendChild(name);
      const put = (figure, unit) => {
        const cell = row.appendChild(el("td", range(figure[0], figure[1], unit), "num"));
        if (figure[0] !== null) {
          cell.title =
            figure[0] === figure[1]
              ? t("{n} bytes", { n: whole(figure[0]) })
              : figure[1] === null
                ? t("at least {n} bytes", { n: whole(figure[0]) })
                : t("{from} to {to} bytes", { from: whole(figure[0]), to: whole(figure[1]) });
        }
      };
      if (several) {
        figures.forEach(each => {
          put(each, gib);
        });
      }
      put(all, gib);
      put(all, gb);
      row.appendChild(basis(part, methodology));
      body.appendChild(row);
    };
    const add = (a, b) => (a === null || b === null ? null : a + b);
    devices[0].parts.forEach((part, i) => {
      line(
        part,
        devices.map(device => [device.parts[i].low, device.parts[i].high]),
      );
    });
    const least = devices.map(device => sum(device.parts, "low"));
    const most = devices.map(device =>
      device.parts.every(part => part.high !== null) ? sum(device.parts, "high") : null,
    );
    line(
      { label: t("Total") },
      devices.map((device, i) => [least[i], most[i]]),
      "sum",
    );
    const free = devices.map((device, i) => device.memory - (most[i] === null ? least[i] : most[i]));
    const label = devices[0].free || t("Free");
    if (most.includes(null)) {
      line(
        { name: "free", label: t("{part}, at most", { part: label }) },
        free.map(n => [Math.max(0, n), Math.max(0, n)]),
      );
    } else {
      if (free.some(n => n >= 0)) {
        line(
          { name: "free", label: t("{part}, at least", { part: label }) },
          free.map(n => [Math.max(0, n), Math.max(0, n)]),
        );
      }
      if (free.some(n => n < 0)) {
        line(
          { name: "over", label: t("Over capacity, at most") },
          free.map(n => [Math.max(0, -n), Math.max(0, -n)]),
        );
      }
    }
  }

  kbgen.picture = { el, svgElement, bars, table };
})();
