/** What a manifest says about the plugin as a whole. Where its parts are is another file's concern. */
import { isRecord } from '../../../core/util/shape.js';
import { AGENT_PLUGINS_VERSIONS, pluginVersion, unknownFields, wrongFields } from './agent-plugins.js';
import type { Detected, ManifestFile } from './detect.js';
import { type JsonFile, parseJson, plainValue } from './json.js';
import { isPluginName, pluginNameFrom } from './plugin-name.js';
import { LoadFailure, type Warnings } from './warnings.js';

export interface PluginAuthor {
  readonly name?: string;
  readonly email?: string;
  readonly url?: string;
}

/** For showing only; none of it is checked to be an address, a licence or a version. */
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

/** Undefined when the plugin has none. Throws `LoadFailure` when it has one that cannot be used. */
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
  const [wrong] = wrongFields(fields);
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
