/**
 * Writes the wire as it is now into `frozen/`, as far as it differs from the versions there. Run once, when a version is
 * published: `node --import tsx packages/protocol/scripts/freeze.ts 0.4.0`.
 */
import { writeFileSync } from 'node:fs';
import { FROZEN_FOLDER, frozenWires, livingWire, type Wire } from './frozen.js';
import { wireOf } from './wires.js';

const [version] = process.argv.slice(2);
if (!version || !/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name the version, such as 0.4.0');
const wire = wireOf(version);
const earlier = [...frozenWires()].filter(([name]) => name !== version && wireOf(name) === wire).map(([, was]) => was);
const { messages, definitions } = livingWire(wire.schemas);

const news: Wire = {
  messages: Object.fromEntries(
    Object.entries(messages).map(([table, rows]) => [table, unknownTo(earlier, rows, (wire) => wire.messages[table])]),
  ),
  definitions: unknownTo(earlier, definitions, (wire) => wire.definitions),
};
writeFileSync(new URL(`${version}.json`, FROZEN_FOLDER), text(news));

function unknownTo<T>(
  wires: readonly Wire[],
  rows: Readonly<Record<string, T>>,
  of: (wire: Wire) => object | undefined,
): Record<string, T> {
  const latest: Record<string, unknown> = Object.assign({}, ...wires.map(of));
  return Object.fromEntries(
    Object.entries(rows).filter(([name, value]) => JSON.stringify(latest[name]) !== JSON.stringify(value)),
  );
}

/** One line for each message and definition, so that a change of one is one line of a diff. */
function text({ messages, definitions }: Wire): string {
  const lines = (rows: object) =>
    `{\n${Object.entries(rows)
      .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(',\n')}\n}`;
  return `{\n"messages": ${lines(messages)},\n"definitions": ${lines(definitions)}\n}\n`;
}
