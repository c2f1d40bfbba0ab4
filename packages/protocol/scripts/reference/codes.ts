/** Error codes for the reference. Their meanings are the comments beside them in the source. */
import { readFileSync } from 'node:fs';
import { ErrorCode } from '../../src/ahp-1/error-codes.js';
import { GatewayErrorCode, ToolErrorCode } from '../../src/provider/error-codes.js';

const AHP = new URL('../../src/errors/codes.ts', import.meta.url);
const PROVIDER = new URL('../../src/provider/error-codes.ts', import.meta.url);

/** A comment on one line, and the name below it. */
const COMMENTED = /\/\*\* (.+) \*\/\n {2}(\w+): /g;

function meanings(file: URL, table: string): Map<string, string> {
  const [, source = ''] = readFileSync(file, 'utf8').split(`export const ${table} = {`);
  const [inside = ''] = source.split('} as const');
  return new Map([...inside.matchAll(COMMENTED)].map(([, text = '', name = '']) => [name, text]));
}

/** The tables of all codes that belong on a page, as Markdown. */
export function codeTables(page: string): string {
  if (page === 'errors') return rows('Codes', ErrorCode, meanings(AHP, 'ErrorCode'));
  if (page !== 'provider') return '';
  return [
    rows('Error codes of the gateway', GatewayErrorCode, meanings(PROVIDER, 'GatewayErrorCode')),
    rows('Error codes of tool calls', ToolErrorCode, meanings(PROVIDER, 'ToolErrorCode')),
  ].join('\n\n');
}

function rows(title: string, codes: Readonly<Record<string, unknown>>, texts: ReadonlyMap<string, string>): string {
  const lines = Object.entries(codes).map(([name, code]) => {
    const meaning = texts.get(name);
    if (!meaning) throw new Error(`${name}: say in a comment above it what its reader should do`);
    return `| \`${code}\` | ${name} | ${meaning} |`;
  });
  return [`## ${title}`, '', '| Code | Name | Meaning and remedy |', '|---|---|---|', ...lines].join('\n');
}
