/** What a browser downloads. The limits leave some room; raise one only together with a reason. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PAGE_FOLDER } from './support/browser.js';

const KB = 1_000;
const LIBRARY_MAX = { bytes: 200 * KB, compressed: 34 * KB };
/**
 * Without what comes only with the first formula. Settings, usage, search, devices, shares, notifications, rules and the like
 * come when they are opened.
 */
const ALL_MAX = { bytes: 1_400 * KB, compressed: 360 * KB };
const FORMULAS_MAX = { bytes: 300 * KB, compressed: 80 * KB };
/** With the first diagram, into a frame of its own. */
const DIAGRAMS_MAX = { bytes: 2_700 * KB, compressed: 600 * KB };

interface Size {
  readonly bytes: number;
  readonly compressed: number;
}

const ASSETS = path.join(PAGE_FOLDER, 'assets');
const SCRIPTS = scriptsIn(ASSETS);

interface Script {
  readonly text: string;
  readonly size: Size;
}

/** With the sizes of the compressed copies that the host sends. */
function scriptsIn(folder: string): readonly Script[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  return names.map((name) => {
    const text = readFileSync(path.join(folder, name));
    const copy = path.join(folder, `${name}.br`);
    const compressed = existsSync(copy) ? statSync(copy).size : text.length;
    return { text: text.toString('latin1'), size: { bytes: text.length, compressed } };
  });
}

function sizeOf(scripts: readonly Script[]): Size {
  return {
    bytes: scripts.reduce((sum, { size }) => sum + size.bytes, 0),
    compressed: scripts.reduce((sum, { size }) => sum + size.compressed, 0),
  };
}

function expectWithin(size: Size, max: Size): void {
  expect(size.bytes).toBeGreaterThan(0);
  expect(size.bytes).toBeLessThan(max.bytes);
  expect(size.compressed).toBeLessThan(max.compressed);
}

it('the script with the client library is small: it holds no compiled validators', () => {
  const library = SCRIPTS.filter((script) => script.text.includes('dropped a message: '));
  expect(library).toHaveLength(1);
  expectWithin(sizeOf(library), LIBRARY_MAX);
});

it('all scripts of the page together stay within their limit', () => {
  expectWithin(sizeOf(SCRIPTS.filter((script) => !isFormulas(script))), ALL_MAX);
});

it('what formulas and diagrams need is apart from everything else, with limits of its own [DAY-110]', () => {
  const formulas = SCRIPTS.filter(isFormulas);
  expect(formulas).toHaveLength(1);
  expectWithin(sizeOf(formulas), FORMULAS_MAX);
  const diagrams = scriptsIn(path.join(PAGE_FOLDER, 'diagram'));
  expect(diagrams).toHaveLength(1);
  expectWithin(sizeOf(diagrams), DIAGRAMS_MAX);
  expect(readdirSync(ASSETS).filter((name) => /\.(?:woff|ttf)$/.test(name))).toEqual([]);
});

function isFormulas({ text }: Script): boolean {
  return text.includes('KaTeX parse error');
}
