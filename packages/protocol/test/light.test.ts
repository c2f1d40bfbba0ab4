/** What runs in the host, in clients and in browsers must not load the library that describes the schemas. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCES = path.join(import.meta.dirname, '../src');

/** Every module that an entry loads, by following what it imports as a value. */
function loadedBy(file: string, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  if (seen.has(file)) return seen;
  const text = readFileSync(file, 'utf8');
  seen.set(file, text);
  for (const [, names = '', from = ''] of text.matchAll(/^(?:import|export) ([^;]*?) from '([^']+)';/gms)) {
    const isTypeOnly = names.startsWith('type ') || /^\{(?:\s*type [^,}]+,?)+\s*\}$/.test(names);
    const isGenerated = from.includes('/generated/');
    if (!isTypeOnly && from.startsWith('.'))
      loadedBy(path.resolve(path.dirname(file), isGenerated ? from : from.replace(/js$/, 'ts')), seen);
  }
  return seen;
}

describe('what is loaded at run time', () => {
  it.each([
    'index',
    'ahp-1/index',
    'ahp-1/from-host',
    'ahp-1/validation',
    'provider/index',
    'validation/index',
    'dialects/index',
  ])('by %s is no schema library', (entry) => {
    const loaded = loadedBy(path.join(SOURCES, `${entry}.ts`));
    expect(loaded.size).toBeGreaterThan(3);
    const heavy = [...loaded].filter(([, text]) => /^import (?!type)[^;]* from 'typebox'/m.test(text));
    expect(heavy.map(([file]) => path.relative(SOURCES, file))).toEqual([]);
  });
});
