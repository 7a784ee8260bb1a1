// One bar per server, as an SVG that is readable on light and dark pages.

const WIDTH = 760;
const LABEL_WIDTH = 290;
const VALUE_WIDTH = 70;
const BAR_HEIGHT = 16;
const STEP = 24;
const TOP = 44;

/** `bars`: `{ label, value, ours }`, drawn from the lowest value to the highest. */
export function barPlot({ title, unit, bars }) {
  const sorted = [...bars].sort((a, b) => a.value - b.value);
  const most = sorted.at(-1)?.value ?? 1;
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / most;
  const rows = sorted.map(({ label, value, ours }, index) => {
    const y = TOP + index * STEP;
    const middle = y + BAR_HEIGHT - 4;
    const width = Math.max(1, value * scale).toFixed(1);
    const kind = ours ? 'ours' : 'other';
    return [
      `<text class="label ${kind}-text" x="${LABEL_WIDTH - 8}" y="${middle}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="${kind}" x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>`,
      `<text class="label" x="${(LABEL_WIDTH + Number(width) + 6).toFixed(1)}" y="${middle}">${Math.round(value)}</text>`,
    ].join('\n');
  });
  const height = TOP + sorted.length * STEP + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 12px system-ui, sans-serif; fill: #333; }
.title { font-size: 14px; font-weight: 600; }
.ours { fill: #1f6feb; } .ours-text { font-weight: 600; }
.other { fill: #9aa4b2; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } .other { fill: #6b7685; } .ours { fill: #58a6ff; } }
</style>
<text class="title" x="8" y="20">${escaped(title)}</text>
<text x="8" y="36">${escaped(unit)}, less is better</text>
${rows.join('\n')}
</svg>
`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
