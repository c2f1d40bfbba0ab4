/** Splits a Markdown file into the YAML at its beginning and the text below. Only texts and flat lists of them matter. */
import { isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap } from 'yaml';
import { FRONTMATTER_MAX_CHARACTERS } from './limits.js';

/** A value as it is written. `isQuoted` tells the text "true" from the word true. */
export type Field =
  | { readonly kind: 'text'; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'other' };

export interface Frontmatter {
  readonly fields: ReadonlyMap<string, Field>;
  readonly body: string;
  /** Each completes the sentence that begins with the file's name. */
  readonly problems: readonly string[];
}

const OPENING = /^---\r?\n/;
/** The closing line; the file may end with it. */
const CLOSING = /^---(?:\r?\n|$)/m;
/**
 * The plainest schema leaves every scalar the text that was written, so that a name such as 1.10 stays itself. Looking
 * for equal keys and drawing pictures of errors takes long in large texts, so neither is left to the parser.
 */
const YAML = { schema: 'failsafe', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;

const NO_FIELDS: ReadonlyMap<string, Field> = new Map();

export function splitFrontmatter(text: string): Frontmatter {
  const start = OPENING.exec(text)?.[0].length;
  if (start === undefined) return { fields: NO_FIELDS, body: text, problems: [] };
  const rest = text.slice(start);
  const closing = CLOSING.exec(rest);
  if (!closing) return { fields: NO_FIELDS, body: text, problems: ['begins with "---" but has no closing "---" line'] };
  const body = rest.slice(closing.index + closing[0].length);
  return { ...fieldsOf(rest.slice(0, closing.index)), body };
}

function fieldsOf(yaml: string): Omit<Frontmatter, 'body'> {
  if (yaml.length > FRONTMATTER_MAX_CHARACTERS) {
    return broken(`has more than ${FRONTMATTER_MAX_CHARACTERS} characters of frontmatter; it is ignored`);
  }
  const text = withQuotedStars(yaml);
  try {
    const { errors, contents } = parseDocument(text, YAML);
    if (errors[0]) return broken(`has broken frontmatter (line ${lineOf(text, errors[0].pos[0])}); it is ignored`);
    if (isMap(contents)) return mapFields(contents as YAMLMap<Node, Node | null>);
    const isEmpty = contents === null || (isScalar(contents) && contents.value === '');
    if (isEmpty) return { fields: NO_FIELDS, problems: [] };
    return broken('has frontmatter that is no list of keys and values; it is ignored');
  } catch (error) {
    if (error instanceof RangeError) return broken('has frontmatter that is nested too deeply; it is ignored');
    throw error;
  }
}

function broken(problem: string): Omit<Frontmatter, 'body'> {
  return { fields: NO_FIELDS, problems: [problem] };
}

/** The first line of the file is the one with the hyphens, and editors count from one. */
function lineOf(yaml: string, offset: number): number {
  return yaml.slice(0, offset).split('\n').length + 1;
}

/** Rules are full of `globs: *.ts`. For YAML that is a reference, which no file of this kind has a use for. */
function withQuotedStars(yaml: string): string {
  return yaml.replace(
    /^([\w-]+:[ \t]+)(\*[^\r\n]*)/gm,
    (_line, key: string, value: string) => `${key}'${value.replace(/[ \t]+#.*$/, '').replaceAll("'", "''")}'`,
  );
}

/** The last of several equal keys counts. */
function mapFields(map: YAMLMap<Node, Node | null>): Omit<Frontmatter, 'body'> {
  const fields = new Map<string, Field>();
  const problems: string[] = [];
  for (const { key, value } of map.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value).trim();
    if (fields.has(name)) problems.push(`has "${name}" twice in its frontmatter; the last one counts`);
    fields.set(name, fieldOf(value));
  }
  return { fields, problems };
}

function fieldOf(value: Node | null): Field {
  if (value === null) return { kind: 'text', text: '', isQuoted: false };
  if (isScalar(value)) return { kind: 'text', text: String(value.value).trim(), isQuoted: value.type !== 'PLAIN' };
  if (!isSeq(value)) return { kind: 'other' };
  return { kind: 'list', items: value.items.filter(isScalar).map((item) => String(item.value).trim()) };
}
