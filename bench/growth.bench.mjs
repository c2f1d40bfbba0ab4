/**
 * How costs grow: sessions, turns, parts, clients and tools, from 10 to 10,000 of them. Each point is the CPU time of a process
 * of its own, or bytes. The figure is the exponent, the slope through the upper two decades in a log-log picture: 0 is flat,
 * 1 is linear, 2 would be quadratic. `--only parts,tools` measures some, `--svg <file>` draws the curves,
 * `--markdown` prints the table of docs/performance.md.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { figure, isOutOfTime, report, roundsInTime, skipped, usualSeconds } from './measure.mjs';
import { curvePicture } from './support/curve-picture.mjs';
import { CURVES } from './support/growth-curves.mjs';

const EXPONENT_MAX = 1.1;
/** One round of all curves takes two minutes, on a busy machine five. */
const SECONDS = 240;
const script = fileURLToPath(new URL('./support/growth-child.mjs', import.meta.url));
const { values } = parseArgs({
  strict: false,
  options: { only: { type: 'string' }, svg: { type: 'string' }, markdown: { type: 'boolean' } },
});

usualSeconds(SECONDS);
const wanted = values.only?.split(',');
const names = Object.keys(CURVES).filter((name) => !wanted || wanted.some((start) => name.startsWith(start)));
/** Each takes a share of the time; those that are left when it is over are left out. */
const curves = [];
const leftOut = [];
for (const [index, name] of names.entries()) {
  if (isOutOfTime()) leftOut.push(name);
  else curves.push(measured(name, 1 / (names.length - index)));
}

if (values.svg) writeFileSync(values.svg, curvePicture(curves));
if (values.markdown) console.log(table());
else report([...curves.map(asFigure), ...leftOut.map(unmeasured)]);

/** The sizes take turns, so that a busy minute hits all of them. The cost of a size is its best: noise only ever adds. */
function measured(name, share) {
  const { sizes } = CURVES[name];
  // One round has many processes, and the largest sizes take seconds each.
  const samples = Array.from(roundsInTime({ least: 1, share }), () =>
    sizes.map((count) => ({ count, cost: costOf(name, count) })),
  );
  const points = sizes.map((count, index) => ({ count, cost: Math.min(...samples.map((round) => round[index].cost)) }));
  return { name, ...CURVES[name], samples, points, exponent: exponentOf(points) };
}

function costOf(name, count) {
  const output = execFileSync(process.execPath, ['--expose-gc', script, name, String(count)], { encoding: 'utf8' });
  return JSON.parse(output).cost;
}

/** Least squares through the upper two decades, where constant costs no longer hide the growth. */
function exponentOf(points) {
  const largest = Math.max(...points.map(({ count }) => count));
  const upper = points.filter(({ count }) => count * 100 >= largest);
  const xs = upper.map(({ count }) => Math.log(count));
  const ys = upper.map(({ cost }) => Math.log(cost));
  const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const [x, y] = [mean(xs), mean(ys)];
  const rise = xs.reduce((sum, value, index) => sum + (value - x) * (ys[index] - y), 0);
  return rise / xs.reduce((sum, value) => sum + (value - x) ** 2, 0);
}

function asFigure({ name, what, samples }) {
  return figure({
    name: `growth.${name}`,
    unit: 'exponent',
    samples: samples.map(exponentOf),
    limit: what,
    target: { atMost: EXPONENT_MAX },
    worse: 'quadratic',
  });
}

function unmeasured(name) {
  return skipped({ name: `growth.${name}`, target: { atMost: EXPONENT_MAX }, skipped: 'no time' });
}

function table() {
  const counts = [...new Set(curves.flatMap(({ sizes }) => sizes))].sort((a, b) => a - b);
  const cells = ({ points }) => counts.map((count) => short(points.find((point) => point.count === count)?.cost));
  const rows = curves.map((curve) => {
    return `| ${curve.name} | ${curve.what} | ${curve.unit} | ${cells(curve).join(' | ')} | ${curve.exponent.toFixed(2)} |`;
  });
  const head = `| curve | what | unit | ${counts.map((count) => count.toLocaleString('en')).join(' | ')} | exponent |`;
  return [head, `|---|---|---|${counts.map(() => '---:|').join('')}---:|`, ...rows].join('\n');
}

function short(cost) {
  if (cost === undefined) return '';
  return cost >= 100 ? Math.round(cost).toLocaleString('en') : String(Number(cost.toPrecision(2)));
}
