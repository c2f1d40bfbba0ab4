/**
 * A Markdown component file: the YAML at its beginning, and the text below. Only texts and flat lists of them are used.
 */
import { packageOnUse } from '@atrium/core/util/package-on-use.js';
import type * as Yaml from 'yaml';
import type { Node, YAMLMap } from 'yaml';
import { DESCRIPTION_MAX_CHARACTERS, FRONTMATTER_MAX_CHARACTERS, NAME_MAX_CHARACTERS } from './limits.js';
import type { LoadContext } from './load-context.js';
import { baseName } from './plugin-files.js';
import type { WarningKind } from './warnings.js';

const yaml = packageOnUse<typeof Yaml>('yaml', import.meta.url);

export interface MarkdownFile {
  readonly path: string;
  readonly uri: string;
  readonly fields: Frontmatter['fields'];
  /** Everything below the frontmatter. */
  readonly body: string;
  /** `message` completes a sentence that begins with the file's name. */
  readonly warn: (kind: WarningKind, message: string) => void;
}

export async function readMarkdown(context: LoadContext, path: string): Promise<MarkdownFile | undefined> {
  const text = await context.reader.read(path);
  if (text === undefined) return undefined;
  const { fields, body, problems } = splitFrontmatter(text);
  const warn = (kind: WarningKind, message: string) => context.warnings.add(kind, `${path} ${message}.`, path);
  for (const problem of problems) warn('frontmatter-invalid', problem);
  return { path, uri: context.reader.uri(path), fields, body, warn };
}

export function textField({ fields, warn }: MarkdownFile, key: string): string | undefined {
  const field = fields.get(key);
  if (field?.kind === 'text') return isNothing(field) ? undefined : field.text;
  if (field) warn('frontmatter-invalid', `should have a text for "${key}"; it is ignored`);
  return undefined;
}

/** Some files name several models in order of preference; the first one counts. */
export function firstTextField(file: MarkdownFile, key: string): string | undefined {
  const field = file.fields.get(key);
  return field?.kind === 'list' ? field.items[0] : textField(file, key);
}

export function booleanField({ fields, warn }: MarkdownFile, key: string): boolean | undefined {
  const field = fields.get(key);
  if (!field || (field.kind === 'text' && isNothing(field))) return undefined;
  if (field.kind !== 'text' || !/^(?:true|false)$/i.test(field.text)) {
    warn('frontmatter-invalid', `should have true or false for "${key}"; it is ignored`);
    return undefined;
  }
  if (field.isQuoted) warn('frontmatter-invalid', `should write the value of "${key}" without quotes`);
  return field.text.toLowerCase() === 'true';
}

/** A list, or one text that `split` splits. */
export function listField(
  { fields, warn }: MarkdownFile,
  key: string,
  split: (text: string) => readonly string[],
): readonly string[] | undefined {
  const field = fields.get(key);
  if (!field || (field.kind === 'text' && isNothing(field))) return undefined;
  if (field.kind === 'other') {
    warn('frontmatter-invalid', `should have a list of texts for "${key}"; it is ignored`);
    return undefined;
  }
  return (field.kind === 'list' ? field.items : split(field.text)).filter((item) => item !== '');
}

function isNothing({ text, isQuoted }: { readonly text: string; readonly isQuoted: boolean }): boolean {
  return text === '' || (!isQuoted && /^(?:null|~)$/i.test(text));
}

/** The name in the frontmatter, if it can be displayed. */
export function nameField(file: MarkdownFile): string | undefined {
  const name = textField(file, 'name');
  if (name === undefined || isShowable(name)) return name;
  file.warn('name-invalid', `has a name that is too long or not on one line; its file name is used`);
  return undefined;
}

function isShowable(name: string): boolean {
  return name.length <= NAME_MAX_CHARACTERS && !/\p{Cc}/u.test(name);
}

export function descriptionField(file: MarkdownFile): string | undefined {
  const description = textField(file, 'description');
  if (description === undefined || description.length <= DESCRIPTION_MAX_CHARACTERS) return description;
  file.warn(
    'frontmatter-invalid',
    `has a description of more than ${DESCRIPTION_MAX_CHARACTERS} characters; it is cut`,
  );
  return description.slice(0, DESCRIPTION_MAX_CHARACTERS);
}

/** A file's name without the first ending that matches. */
export function nameWithout(path: string, endings: readonly string[]): string {
  const name = baseName(path);
  const ending = endings.find((end) => name.endsWith(end) && name.length > end.length);
  return ending === undefined ? name : name.slice(0, -ending.length);
}

/** A value as it is written. `isQuoted` distinguishes the text "true" from the word true. */
export type Field =
  | { readonly kind: 'text'; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'other' };

interface Frontmatter {
  readonly fields: ReadonlyMap<string, Field>;
  readonly body: string;
  /** Each completes a sentence that begins with the file's name. */
  readonly problems: readonly string[];
}

const OPENING = /^---\r?\n/;
/** The closing line; the file may end with it. */
const CLOSING = /^---(?:\r?\n|$)/m;
/**
 * The simplest schema keeps every scalar as it was written, so that a name such as 1.10 stays the same. Searching for
 * equal keys and formatting errors with excerpts takes long for large texts, so the parser does neither.
 */
const YAML_OPTIONS = { schema: 'failsafe', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;

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

function fieldsOf(source: string): Omit<Frontmatter, 'body'> {
  if (source.length > FRONTMATTER_MAX_CHARACTERS) {
    return broken(`has more than ${FRONTMATTER_MAX_CHARACTERS} characters of frontmatter; it is ignored`);
  }
  const text = withQuotedStars(source);
  const { parseDocument, isMap, isScalar } = yaml();
  try {
    const { errors, contents } = parseDocument(text, YAML_OPTIONS);
    if (errors[0]) return broken(`has broken frontmatter (line ${lineOf(text, errors[0].pos[0])}); it is ignored`);
    if (isMap(contents)) return mapFields(contents as YAMLMap<Node, Node | null>);
    const isEmpty = contents === null || (isScalar(contents) && contents.value === '');
    if (isEmpty) return { fields: NO_FIELDS, problems: [] };
    return broken('has frontmatter that is not a list of keys and values; it is ignored');
  } catch (error) {
    if (error instanceof RangeError) return broken('has frontmatter that is nested too deeply; it is ignored');
    throw error;
  }
}

function broken(problem: string): Omit<Frontmatter, 'body'> {
  return { fields: NO_FIELDS, problems: [problem] };
}

/** The first line of the file is the one with the hyphens, and editors count from one. */
function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length + 1;
}

/** Rules are full of `globs: *.ts`. In YAML that would be a reference, which files of this kind never need. */
function withQuotedStars(source: string): string {
  return source.replace(
    /^([\w-]+:[ \t]+)(\*[^\r\n]*)/gm,
    (_line, key: string, value: string) => `${key}'${value.replace(/[ \t]+#.*$/, '').replaceAll("'", "''")}'`,
  );
}

/** Of several equal keys, the last counts. */
function mapFields(map: YAMLMap<Node, Node | null>): Omit<Frontmatter, 'body'> {
  const fields = new Map<string, Field>();
  const problems: string[] = [];
  for (const { key, value } of map.items) {
    if (!yaml().isScalar(key)) continue;
    const name = String(key.value).trim();
    if (fields.has(name)) problems.push(`has "${name}" twice in its frontmatter; the last one counts`);
    fields.set(name, fieldOf(value));
  }
  return { fields, problems };
}

function fieldOf(value: Node | null): Field {
  const { isScalar, isSeq } = yaml();
  if (value === null) return { kind: 'text', text: '', isQuoted: false };
  if (isScalar(value)) return { kind: 'text', text: String(value.value).trim(), isQuoted: value.type !== 'PLAIN' };
  if (!isSeq(value)) return { kind: 'other' };
  return { kind: 'list', items: value.items.filter(isScalar).map((item) => String(item.value).trim()) };
}
