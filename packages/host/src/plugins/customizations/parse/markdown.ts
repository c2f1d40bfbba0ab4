/** One Markdown component file, and what its frontmatter says, read with patience. */
import { baseName } from './files.js';
import { type Frontmatter, splitFrontmatter } from './frontmatter.js';
import { DESCRIPTION_MAX_CHARACTERS, NAME_MAX_CHARACTERS } from './limits.js';
import type { Source } from './source.js';
import type { WarningKind } from './warnings.js';

export interface MarkdownFile {
  readonly path: string;
  readonly uri: string;
  readonly fields: Frontmatter['fields'];
  /** Everything below the frontmatter. */
  readonly body: string;
  /** `message` completes the sentence that begins with the file's name. */
  readonly warn: (kind: WarningKind, message: string) => void;
}

export async function readMarkdown(source: Source, path: string): Promise<MarkdownFile | undefined> {
  const text = await source.reader.read(path);
  if (text === undefined) return undefined;
  const { fields, body, problems } = splitFrontmatter(text);
  const warn = (kind: WarningKind, message: string) => source.warnings.add(kind, `${path} ${message}.`, path);
  for (const problem of problems) warn('frontmatter-invalid', problem);
  return { path, uri: source.reader.uri(path), fields, body, warn };
}

export function textField({ fields, warn }: MarkdownFile, key: string): string | undefined {
  const field = fields.get(key);
  if (field?.kind === 'text') return isNothing(field) ? undefined : field.text;
  if (field) warn('frontmatter-invalid', `should have a text for "${key}"; it is ignored`);
  return undefined;
}

/** Some files name several models in the order of their liking; the first one counts. */
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

/** A list, or one text that `split` takes apart. */
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

/** The name in the frontmatter, if it is one that can be shown. */
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

/** A file's name without the first of the endings that it has. */
export function nameWithout(path: string, endings: readonly string[]): string {
  const name = baseName(path);
  const ending = endings.find((end) => name.endsWith(end) && name.length > end.length);
  return ending === undefined ? name : name.slice(0, -ending.length);
}
