/** Names beside each other, in as few rows as fit, read from top to bottom. */
import { padded, widthOf } from './width.js';

const GAP = 2;

export function inColumns(names: readonly string[], width: number): string[] {
  const cell = Math.max(1, ...names.map(widthOf)) + GAP;
  const across = Math.max(1, Math.floor((width + GAP) / cell));
  const rows = Math.ceil(names.length / across);
  return Array.from({ length: rows }, (_, row) =>
    names
      .filter((_name, index) => index % rows === row)
      .map((name) => padded(name, cell))
      .join('')
      .trimEnd(),
  );
}
