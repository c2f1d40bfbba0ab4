/** A plugin's manifest: the facts about the plugin as a whole, and the paths of its parts. */
import path from 'node:path';
import { isRecord } from '@atrium/core/util/shape.js';
import { itemsOf, type JsonFile, type JsonNode, memberOf, parseJson, plainValue } from './json.js';
import { LOCATIONS_MAX, NAME_MAX_CHARACTERS } from './limits.js';
import {
  AGENT_PLUGINS_VERSIONS,
  type Detected,
  type ManifestFile,
  pluginVersion,
  unknownFields,
  wrongField,
} from './plugin-formats.js';
import { LoadFailure, type Warnings } from './warnings.js';

interface PluginAuthor {
  readonly name?: string;
  readonly email?: string;
  readonly url?: string;
}

/** For display only: the host does not check that these are addresses, licences or versions. */
export interface PluginAbout {
  readonly version?: string;
  readonly description?: string;
  readonly author?: PluginAuthor;
  readonly homepage?: string;
  readonly repository?: string;
  readonly license?: string;
  readonly logo?: string;
  readonly keywords?: readonly string[];
}

export interface Manifest extends JsonFile {
  readonly name: string;
  readonly about: PluginAbout;
}

/** Undefined when the plugin has no manifest. Throws `LoadFailure` when the manifest is unusable. */
export function readManifest(
  { dialect, manifest }: Detected,
  folderName: string,
  warnings: Warnings,
): Manifest | undefined {
  if (!manifest) return undefined;
  const json = dialect === 'agent-plugins' ? strictJson(manifest) : manifest.json;
  if ('problem' in json) throw new LoadFailure(`${manifest.path} ${json.problem}.`);
  const fields = plainValue(json.root);
  if (!isRecord(fields)) throw new LoadFailure(`${manifest.path} must hold a JSON object.`);
  const { path } = manifest;
  if (dialect === 'agent-plugins') checkStrictly(path, fields, warnings);
  return { path, json, name: nameOf(path, fields, folderName, warnings), about: aboutOf(path, fields, warnings) };
}

function strictJson({ json, text }: ManifestFile): ManifestFile['json'] {
  return 'problem' in json ? json : parseJson(text, 'strict');
}

type Fields = Readonly<Record<string, unknown>>;

function checkStrictly(path: string, fields: Fields, warnings: Warnings): void {
  const version = pluginVersion(fields.$schema) ?? '';
  if (!AGENT_PLUGINS_VERSIONS.has(version)) {
    const known = [...AGENT_PLUGINS_VERSIONS].join(', ');
    throw new LoadFailure(`${path} is written for a version of Agent Plugins that is not known; known are: ${known}.`);
  }
  const wrong = wrongField(fields);
  if (wrong !== undefined) throw new LoadFailure(`${path}: "${wrong}" has a value of the wrong type.`);
  if (typeof fields.name !== 'string' || !isPluginName(fields.name)) {
    throw new LoadFailure(`${path}: "name" must be 1 to 64 small letters, digits, hyphens and dots.`);
  }
  for (const key of unknownFields(fields)) {
    warnings.add('manifest-field-invalid', `${path}: "${key}" is not a field of this format; it is ignored.`, path);
  }
}

function nameOf(path: string, { name }: Fields, folderName: string, warnings: Warnings): string {
  if (typeof name === 'string' && isPluginName(name)) return name;
  const usable = pluginNameFrom(typeof name === 'string' ? name : folderName);
  if (name !== undefined) warnings.add('name-invalid', `${path}: "name" is not valid; "${usable}" is used.`, path);
  return usable;
}

function aboutOf(path: string, fields: Fields, warnings: Warnings): PluginAbout {
  const texts = ['version', 'description', 'homepage', 'repository', 'license', 'logo'].flatMap((key) => {
    const value = fields[key];
    if (typeof value === 'string') return [[key, value.trim()] as const];
    if (value !== undefined) warnInvalid(path, key, 'a string', warnings);
    return [];
  });
  return { ...Object.fromEntries(texts), ...authorOf(path, fields, warnings), ...keywordsOf(path, fields, warnings) };
}

function authorOf(path: string, { author }: Fields, warnings: Warnings): Pick<PluginAbout, 'author'> {
  if (author === undefined) return {};
  if (typeof author === 'string') return { author: { name: author.trim() } };
  if (isRecord(author)) {
    const texts = ['name', 'email', 'url'].filter((key) => typeof author[key] === 'string');
    return { author: Object.fromEntries(texts.map((key) => [key, author[key]])) };
  }
  warnInvalid(path, 'author', 'an object or a string', warnings);
  return {};
}

function keywordsOf(path: string, { keywords }: Fields, warnings: Warnings): Pick<PluginAbout, 'keywords'> {
  if (keywords === undefined) return {};
  if (Array.isArray(keywords)) return { keywords: keywords.filter((word) => typeof word === 'string') };
  warnInvalid(path, 'keywords', 'a list of strings', warnings);
  return {};
}

function warnInvalid(path: string, key: string, wanted: string, warnings: Warnings): void {
  warnings.add('manifest-field-invalid', `${path}: "${key}" must be ${wanted}; it is ignored.`, path);
}

export interface ComponentLocation {
  readonly path: string;
  /** Whether the manifest names it, so that its absence is worth a warning. */
  readonly isNamed: boolean;
}

export interface ComponentLocations {
  readonly locations: readonly ComponentLocation[];
  /** Parts that the manifest itself contains. */
  readonly inline?: JsonNode;
}

interface LocationField {
  readonly key: string;
  readonly usual: readonly string[];
  /** Whether the manifest itself may contain the parts. */
  readonly allowsInline?: boolean;
}

export function locationsOf(
  manifest: Manifest | undefined,
  field: LocationField,
  warnings: Warnings,
): ComponentLocations {
  const usual = field.usual.map((path) => ({ path, isNamed: false }));
  const value = memberOf(manifest?.json.root, field.key);
  if (!manifest || !value) return { locations: usual };
  const wrong = (what: string) =>
    warnings.add('manifest-field-invalid', `${manifest.path}: "${field.key}" ${what}.`, manifest.path);
  const paths = pathNodes(value);
  if (!paths) {
    if (field.allowsInline && value.type === 'object') return { locations: usual, inline: value };
    wrong('must be a path, a list of paths, or an object with "paths"; it is ignored');
    return { locations: usual };
  }
  const named = paths.slice(0, LOCATIONS_MAX).flatMap((node) => namedLocation(node, wrong, warnings, manifest.path));
  if (paths.length > LOCATIONS_MAX) wrong(`names more than ${LOCATIONS_MAX} paths; the rest is ignored`);
  return { locations: unique(memberOf(value, 'exclusive')?.value === true ? named : [...usual, ...named]) };
}

/** The paths that a field names; undefined for other values. */
function pathNodes(value: JsonNode): readonly JsonNode[] | undefined {
  if (value.type === 'string') return [value];
  if (value.type === 'array') return itemsOf(value);
  const paths = memberOf(value, 'paths');
  return paths?.type === 'string' || paths?.type === 'array' ? pathNodes(paths) : undefined;
}

function namedLocation(
  node: JsonNode,
  wrong: (what: string) => void,
  warnings: Warnings,
  file: string,
): ComponentLocation[] {
  const text: unknown = node.value;
  if (typeof text !== 'string' || text.trim() === '' || text.includes('\0')) {
    wrong('names something that is not a path; it is ignored');
    return [];
  }
  const inner = innerPath(text);
  if (inner === undefined) {
    warnings.add('path-escapes', `"${text.trim()}" leads out of the folder, so it is left out.`, file);
    return [];
  }
  if (!/^\.(?:[/\\]|$)/.test(text.trim())) wrong(`should write "./${inner}" for "${text.trim()}"`);
  return [{ path: inner, isNamed: true }];
}

/** The shortest form of the path; undefined when it leads out of the folder. */
export function innerPath(text: string): string | undefined {
  const plain = text.trim().replaceAll('\\', '/');
  if (plain.startsWith('/') || /^[a-z]:/i.test(plain)) return undefined;
  const short = path.posix.normalize(plain).replace(/\/$/, '');
  if (short === '..' || short.startsWith('../')) return undefined;
  return short === '.' ? '' : short;
}

/** A usual path that the manifest also names keeps its position, and counts as named. */
function unique(locations: readonly ComponentLocation[]): readonly ComponentLocation[] {
  return [...new Map(locations.map((location) => [location.path, location])).values()];
}

export function isPluginName(name: string): boolean {
  return name.length <= NAME_MAX_CHARACTERS && /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(name) && !/--|\.\./.test(name);
}

/** The valid name that is closest to the given one. */
export function pluginNameFrom(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+/, '')
    .slice(0, NAME_MAX_CHARACTERS);
  return withoutEnd(name) || 'plugin';
}

/** Two steps, because one regular expression would take quadratic time for a long run of hyphens. */
function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && /[.-]/.test(name[end - 1] ?? '')) end -= 1;
  return name.slice(0, end);
}
