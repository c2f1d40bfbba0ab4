/** Replaces placeholders such as `${PLUGIN_ROOT}` by their values, in texts, maps of texts and shell commands. */
import { isRecord } from '@atrium/core/util/shape.js';

/** The values that a container's declarations may refer to. */
export interface ExpansionContext {
  /** The plugin's folder on this machine; absent for declarations outside of plugins. */
  readonly pluginRoot?: string;
  /** A folder that the host keeps for the plugin's data. */
  readonly pluginData?: string;
  /** The variables that declarations may refer to by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** To read a declaration as it is written: variables keep their names. */
export function withoutMachine({ platform }: ExpansionContext): ExpansionContext {
  return { env: {}, platform };
}

/** A value for the name between the braces; undefined leaves the text as it is. */
export type Lookup = (name: string) => string | undefined;

/** One pass: inserted values are not expanded again. */
export function expand(text: string, lookup: Lookup): string {
  return text.replace(/\$\{(\w+)\}/g, (whole, name: string) => lookup(name) ?? whole);
}

/** The names that the host itself defines. Claude's names are for plugins written for Claude. */
export function pluginLookup({ pluginRoot, pluginData }: ExpansionContext, isStrict: boolean): Lookup {
  const values = new Map([
    ['PLUGIN_ROOT', pluginRoot],
    ['PLUGIN_DATA', pluginData],
  ]);
  if (!isStrict) values.set('CLAUDE_PLUGIN_ROOT', pluginRoot).set('CLAUDE_PLUGIN_DATA', pluginData);
  return (name) => values.get(name);
}

/** Like `pluginLookup`; outside of the strict dialect, also finds environment variables in capital letters. */
export function fullLookup(expansion: ExpansionContext, isStrict: boolean): Lookup {
  const own = pluginLookup(expansion, isStrict);
  if (isStrict) return own;
  return (name) => own(name) ?? variable(expansion.env, name);
}

function variable(env: ExpansionContext['env'], name: string): string | undefined {
  return /^[A-Z_][A-Z0-9_]*$/.test(name) && Object.hasOwn(env, name) ? env[name] : undefined;
}

/** The variables that no declaration may override. */
export function reservedVariables({ pluginRoot, pluginData }: ExpansionContext): Record<string, string> {
  return {
    ...(pluginRoot === undefined ? {} : { PLUGIN_ROOT: pluginRoot, CLAUDE_PLUGIN_ROOT: pluginRoot }),
    ...(pluginData === undefined ? {} : { PLUGIN_DATA: pluginData, CLAUDE_PLUGIN_DATA: pluginData }),
  };
}

/** Numbers count as texts; other values are left out. */
export function textMap(value: unknown, expanded: (text: string) => string): Record<string, string> {
  if (!isRecord(value)) return {};
  const usable: [string, string][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string' || typeof member === 'number') usable.push([name, expanded(String(member))]);
  }
  return Object.fromEntries(usable);
}

/** The names whose value is null. */
export function nullMap(value: unknown): Record<string, null> {
  if (!isRecord(value)) return {};
  const names = Object.keys(value).filter((name) => value[name] === null);
  return Object.fromEntries(names.map((name) => [name, null]));
}

type Quote = '"' | "'" | undefined;

/** Characters that have no special meaning in any shell. */
const PLAIN = /^[\w@%+=:,./-]*$/;

/** `isWindows`: quotes with double quotes only, the only ones that its shells know; paths there never contain one. */
export function expandInShell(line: string, lookup: Lookup, isWindows: boolean): string {
  let quote: Quote;
  return pieces(line)
    .map((piece) => {
      if (!piece.startsWith('${')) {
        quote = quoteAfter(piece, quote, isWindows);
        return piece;
      }
      return expand(piece, (name) => {
        const value = lookup(name);
        return value === undefined ? undefined : quoted(value, quote, isWindows);
      });
    })
    .join('');
}

/** Placeholders and the texts between them. */
function pieces(line: string): readonly string[] {
  return line.split(/(\$\{\w+\})/);
}

/** Which quotes are open at the end of a piece of text. */
function quoteAfter(text: string, before: Quote, isWindows: boolean): Quote {
  let quote = before;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\' && quote !== "'" && !isWindows) at += 1;
    else if (character === '"' && quote !== "'") quote = quote ? undefined : '"';
    else if (character === "'" && quote !== '"' && !isWindows) quote = quote ? undefined : "'";
  }
  return quote;
}

function quoted(value: string, quote: Quote, isWindows: boolean): string {
  if (isWindows) return quote || !/[^\w@+=:.,/\\-]/.test(value) ? value : `"${value}"`;
  if (quote === '"') return value.replace(/[\\"$`]/g, '\\$&');
  const inSingle = value.replaceAll("'", "'\\''");
  return quote === "'" ? inSingle : PLAIN.test(value) ? value : `'${inSingle}'`;
}
