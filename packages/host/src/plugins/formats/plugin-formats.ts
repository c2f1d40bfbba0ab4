/** The four dialects in which plugins are written: where each keeps its parts, and how a plugin's dialect is detected. */
import { isDeepStrictEqual } from 'node:util';
import { problemOf, type RecordShape, type Shape } from '@atrium/core/util/shape.js';
import { type JsonDocument, memberOf, type NotJson, parseJson, plainValue } from './json.js';
import { MANIFEST_MAX_BYTES } from './limits.js';
import { type FileEntry, FileProblem, folderNames, type PluginFiles } from './plugin-files.js';
import type { Warnings } from './warnings.js';

export type PluginFormat = 'open-plugins' | 'agent-plugins' | 'claude' | 'copilot';

/** The files and folders that are read even if the manifest does not name them. */
export interface Layout {
  readonly commands: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
  readonly rules: readonly string[];
  readonly hooks: readonly string[];
  readonly mcpServers: readonly string[];
}

const OPEN_PLUGINS: Layout = {
  commands: ['commands'],
  agents: ['agents'],
  skills: ['skills'],
  prompts: ['prompts'],
  rules: ['rules'],
  hooks: ['hooks/hooks.json'],
  mcpServers: ['.mcp.json'],
};

/** Plugins of Claude and Copilot have no folder of rules, but a manifest may still name some. */
export const LAYOUTS: Readonly<Record<PluginFormat, Layout>> = {
  'open-plugins': OPEN_PLUGINS,
  claude: { ...OPEN_PLUGINS, rules: [] },
  copilot: { ...OPEN_PLUGINS, rules: [], hooks: ['hooks.json'] },
  'agent-plugins': {
    commands: [],
    agents: [],
    skills: ['skills'],
    prompts: [],
    rules: [],
    hooks: [],
    mcpServers: ['mcp.json'],
  },
};

/** In Agent Plugins, the host refuses anything that does not conform instead of repairing it. */
export function isStrict(dialect: PluginFormat): boolean {
  return dialect === 'agent-plugins';
}

/** A manifest that exists but may be invalid. */
export interface ManifestFile {
  readonly path: string;
  readonly json: JsonDocument | NotJson;
  readonly text: string;
}

export interface Detected {
  readonly dialect: PluginFormat;
  readonly manifest?: ManifestFile;
}

const ROOT_MANIFEST = 'plugin.json';

/** In order of precedence. */
const MANIFESTS: readonly { readonly path: string; readonly dialect: PluginFormat }[] = [
  { path: '.plugin/plugin.json', dialect: 'open-plugins' },
  { path: '.claude-plugin/plugin.json', dialect: 'claude' },
  { path: ROOT_MANIFEST, dialect: 'copilot' },
  { path: '.github/plugin/plugin.json', dialect: 'copilot' },
  { path: '.github/plugin.json', dialect: 'copilot' },
];

/** Undefined when this is not a plugin. */
export async function detect(files: PluginFiles, warnings?: Warnings): Promise<Detected | undefined> {
  const entries = (await listed(files, '')) ?? [];
  const present = new Set(entries.map(({ name }) => name));
  const manifests = new Map<string, ManifestFile>();
  for (const { path } of MANIFESTS.filter((candidate) => present.has(firstName(candidate.path)))) {
    const manifest = await readManifestFile(files, path);
    if (manifest) manifests.set(path, manifest);
  }
  const detected = choose(manifests, await hasMarker(files, entries), isBelowClaude(files));
  if (detected && warnings) warnIfDifferent(detected, [...manifests.values()], warnings);
  return detected;
}

function choose(
  manifests: ReadonlyMap<string, ManifestFile>,
  hasParts: boolean,
  isClaudes: boolean,
): Detected | undefined {
  const root = manifests.get(ROOT_MANIFEST);
  if (root && isAgentPluginsSchema(fieldOf(root, '$schema'))) return { dialect: 'agent-plugins', manifest: root };
  for (const { path, dialect } of MANIFESTS) {
    const manifest = manifests.get(path);
    // A plugin in a folder of Claude is a Claude plugin, even if it also has a manifest for others.
    if (dialect === 'copilot' && isClaudes && hasParts) break;
    if (manifest) return { dialect, manifest };
  }
  if (!hasParts) return undefined;
  return { dialect: isClaudes ? 'claude' : 'open-plugins' };
}

/** The name to look for in the container itself. */
function firstName(path: string): string {
  return path.split('/')[0] ?? path;
}

function isBelowClaude(files: PluginFiles): boolean {
  return folderNames(files).slice(0, -1).includes('.claude');
}

async function readManifestFile(files: PluginFiles, path: string): Promise<ManifestFile | undefined> {
  try {
    const text = await files.read(path, MANIFEST_MAX_BYTES);
    if (text === undefined) return undefined;
    const plain = text.replace(/^\uFEFF/, '');
    return { path, text: plain, json: parseJson(plain, 'tolerant') };
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return { path, text: '', json: { problem: `cannot be used: ${error.message}` } };
  }
}

const PART_FOLDERS: ReadonlySet<string> = new Set(['skills', 'commands', 'agents', 'rules']);
const PART_FILES: ReadonlySet<string> = new Set(['.mcp.json', 'SKILL.md']);

/** Whether the folder has components that only plugins have. */
async function hasMarker(files: PluginFiles, entries: readonly FileEntry[]): Promise<boolean> {
  if (entries.some(({ name, kind }) => (kind === 'folder' ? PART_FOLDERS : PART_FILES).has(name))) return true;
  if (!entries.some(({ name }) => name === 'hooks')) return false;
  return Boolean((await listed(files, 'hooks'))?.some(({ name, kind }) => kind === 'file' && name === 'hooks.json'));
}

async function listed(files: PluginFiles, path: string): ReturnType<PluginFiles['list']> {
  try {
    return await files.list(path);
  } catch (error) {
    if (error instanceof FileProblem) return undefined;
    throw error;
  }
}

function fieldOf({ json }: ManifestFile, key: string): unknown {
  return 'root' in json ? plainValue(memberOf(json.root, key)) : undefined;
}

/** Fields that both Agent Plugins and the older dialects have. All others differ anyway. */
const SHARED_FIELDS = ['name', 'version', 'description', 'author', 'homepage', 'repository', 'license', 'keywords'];

function warnIfDifferent({ dialect, manifest }: Detected, all: readonly ManifestFile[], warnings: Warnings): void {
  if (!manifest) return;
  const meaning = (file: ManifestFile) => {
    if (dialect === 'agent-plugins') return SHARED_FIELDS.map((key) => fieldOf(file, key));
    return 'root' in file.json ? plainValue(file.json.root) : undefined;
  };
  for (const other of all) {
    if (isDeepStrictEqual(meaning(other), meaning(manifest))) continue;
    const message = `${other.path} differs from ${manifest.path}; only ${manifest.path} is used.`;
    warnings.add('manifest-inconsistent', message, other.path);
  }
}

const SCHEMAS = 'https://agent-plugins.org/schemas/';
const PLUGIN_SCHEMA = '/plugin.schema.json';
const MCP_SCHEMA = '/mcp.schema.json';

/** The versions of the format that this host knows. */
export const AGENT_PLUGINS_VERSIONS: ReadonlySet<string> = new Set(['1.0.0']);

function isAgentPluginsSchema(schema: unknown): schema is string {
  return typeof schema === 'string' && schema.startsWith(SCHEMAS) && schema.endsWith(PLUGIN_SCHEMA);
}

/** The version that a manifest's schema names. */
export function pluginVersion(schema: unknown): string | undefined {
  return versionIn(schema, PLUGIN_SCHEMA);
}

/** The version that the schema of an MCP file names. */
export function mcpVersion(schema: unknown): string | undefined {
  return versionIn(schema, MCP_SCHEMA);
}

function versionIn(schema: unknown, end: string): string | undefined {
  if (typeof schema !== 'string' || !schema.startsWith(SCHEMAS) || !schema.endsWith(end)) return undefined;
  return schema.slice(SCHEMAS.length, -end.length);
}

const TEXT: Shape = { type: 'string' };
const OBJECT: RecordShape = { type: 'object', properties: {}, required: [], open: true };

const AGENT_PLUGINS_MANIFEST: RecordShape = {
  ...OBJECT,
  properties: {
    $schema: TEXT,
    name: TEXT,
    version: TEXT,
    description: TEXT,
    author: { anyOf: [TEXT, OBJECT] },
    homepage: TEXT,
    repository: TEXT,
    license: TEXT,
    logo: TEXT,
    keywords: { type: 'array', items: TEXT },
    extensions: OBJECT,
  },
};

/** The first known field of an Agent Plugins manifest that has a value of the wrong type. */
export function wrongField(manifest: Readonly<Record<string, unknown>>): string | undefined {
  const problem = problemOf(AGENT_PLUGINS_MANIFEST, manifest);
  return problem && String(problem.path[0]);
}

export function unknownFields(manifest: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(manifest).filter((key) => !Object.hasOwn(AGENT_PLUGINS_MANIFEST.properties, key));
}
