/** What a browser downloads. The limits leave some room; raise one only together with a reason. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { PAGE_FOLDER } from './support/browser.js';

const KB = 1_000;
const LIBRARY_MAX = { bytes: 200 * KB, compressed: 34 * KB };
const ALL_MAX = { bytes: 1_250 * KB, compressed: 300 * KB };

interface Size {
  readonly bytes: number;
  readonly compressed: number;
}

const ASSETS = path.join(PAGE_FOLDER, 'assets');
const SCRIPTS = readdirSync(ASSETS)
  .filter((name) => name.endsWith('.js'))
  .map((name) => readFileSync(path.join(ASSETS, name)));

function sizeOf(scripts: readonly Buffer[]): Size {
  const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
  return {
    bytes: sum(scripts.map((script) => script.length)),
    compressed: sum(scripts.map((script) => brotliCompressSync(script).length)),
  };
}

function expectWithin(size: Size, max: Size): void {
  expect(size.bytes).toBeGreaterThan(0);
  expect(size.bytes).toBeLessThan(max.bytes);
  expect(size.compressed).toBeLessThan(max.compressed);
}

it('the script with the client library is small: it holds no compiled validators', () => {
  const library = SCRIPTS.filter((script) => script.includes('dropped a message: '));
  expect(library).toHaveLength(1);
  expectWithin(sizeOf(library), LIBRARY_MAX);
});

it('all scripts of the page together stay within their limit', () => {
  expectWithin(sizeOf(SCRIPTS), ALL_MAX);
});
