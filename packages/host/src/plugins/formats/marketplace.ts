/** Finds the plugins in a marketplace, by its index, or in a folder of plugins. */
import { isRecord } from '@atrium/core/util/shape.js';
import { parseJson, plainValue } from './json.js';
import { FOUND_PLUGINS_MAX, MANIFEST_MAX_BYTES, SEARCHED_FOLDERS_MAX } from './limits.js';
import { present } from './load-context.js';
import { innerPath } from './manifest.js';
import { FileProblem, filesBelow, folderNames, joined, type PluginFiles } from './plugin-files.js';
import { detect } from './plugin-formats.js';
import { type Warning, Warnings } from './warnings.js';

interface FoundPlugin {
  /** For people who browse; the plugin's own manifest may differ. */
  readonly listing: PluginListing;
  readonly source: MarketplaceEntry['source'];
}

export interface FoundPlugins {
  /** The name of the marketplace, if its index has one. */
  readonly name?: string;
  readonly plugins: readonly FoundPlugin[];
  readonly warnings: readonly Warning[];
}

/** Without an index: the folder itself, or else the folders in it, two levels deep. */
export async function findPlugins(files: PluginFiles): Promise<FoundPlugins> {
  const warnings = new Warnings();
  const marketplace = await readMarketplace(files, warnings);
  if (!marketplace) return { plugins: await searched(files, warnings), warnings: warnings.list };
  const plugins: FoundPlugin[] = [];
  for (const entry of marketplace.entries) {
    if (await exists(files, entry)) plugins.push(entry);
    else warnings.add('path-missing', `The plugin "${entry.listing.name}" is not where the index says.`);
  }
  return { ...marketplaceName(marketplace.name), plugins, warnings: warnings.list };
}

function marketplaceName(name: string | undefined): Pick<FoundPlugins, 'name'> {
  return name === undefined ? {} : { name };
}

async function exists(files: PluginFiles, { source }: MarketplaceEntry): Promise<boolean> {
  return source.kind === 'remote' || (await foldersIn(files, source.path)) !== undefined;
}

const SEARCH_DEPTH_MAX = 2;

/** A folder that is a plugin is not searched further, because its skills would look like plugins. */
async function searched(files: PluginFiles, warnings: Warnings): Promise<readonly FoundPlugin[]> {
  const found: FoundPlugin[] = [];
  const waiting = [{ path: '', depth: 0 }];
  for (const { path, depth } of waiting) {
    const folder = filesBelow(files, path);
    if (await detect(folder)) {
      found.push({ listing: { name: folderNames(folder).at(-1) ?? path }, source: { kind: 'path', path } });
      continue;
    }
    const inner = depth < SEARCH_DEPTH_MAX ? ((await foldersIn(files, path)) ?? []) : [];
    waiting.push(...inner.map((name) => ({ path: joined(path, name), depth: depth + 1 })));
    if (waiting.length <= SEARCHED_FOLDERS_MAX && found.length < FOUND_PLUGINS_MAX) continue;
    warnings.add('limit-exceeded', 'There are too many folders to look for plugins in; the rest is left out.');
    waiting.length = Math.min(waiting.length, SEARCHED_FOLDERS_MAX);
  }
  return found.slice(0, FOUND_PLUGINS_MAX);
}

/** The visible folders in a folder; undefined when it does not exist or cannot be read. */
async function foldersIn(files: PluginFiles, path: string): Promise<readonly string[] | undefined> {
  try {
    const entries = await files.list(path);
    return entries?.filter(({ name, kind }) => kind === 'folder' && !name.startsWith('.')).map(({ name }) => name);
  } catch (error) {
    if (error instanceof FileProblem) return undefined;
    throw error;
  }
}

/** The index's facts about a plugin. They are for lists only: the plugin's own manifest counts when it is loaded. */
interface PluginListing {
  readonly name: string;
  readonly description?: string;
  readonly version?: string;
  readonly author?: unknown;
  readonly license?: string;
  readonly keywords?: readonly string[];
  readonly skills?: readonly string[];
}

interface MarketplaceEntry {
  readonly listing: PluginListing;
  /** Where the plugin is: a path in the marketplace, or a place elsewhere from which it must be fetched. */
  readonly source:
    | { readonly kind: 'path'; readonly path: string }
    | { readonly kind: 'remote'; readonly remote: unknown };
}

interface Marketplace {
  readonly name?: string;
  readonly entries: readonly MarketplaceEntry[];
}

const INDEX = 'marketplace.json';

/** Undefined when there is no usable index. */
async function readMarketplace(files: PluginFiles, warnings: Warnings): Promise<Marketplace | undefined> {
  for (const path of await indexPaths(files)) {
    const text = await files.read(path, MANIFEST_MAX_BYTES).catch((error: unknown) => refused(error, path, warnings));
    if (text === undefined) continue;
    const json = parseJson(text.replace(/^\uFEFF/, ''), 'tolerant');
    const index = 'root' in json ? plainValue(json.root) : undefined;
    if (isRecord(index) && Array.isArray(index.plugins)) return marketplaceOf(index, index.plugins, path, warnings);
    warnings.add('manifest-field-invalid', `${path} is not an index of plugins, so it is not used.`, path);
    return undefined;
  }
  return undefined;
}

function refused(error: unknown, path: string, warnings: Warnings): undefined {
  if (!(error instanceof FileProblem)) throw error;
  warnings.add(error.kind, error.message, path);
}

/** The folder of any tool may contain the index. */
async function indexPaths(files: PluginFiles): Promise<readonly string[]> {
  const folders = ((await files.list('')) ?? []).filter(({ kind }) => kind === 'folder').map(({ name }) => name);
  const ofTools = folders.filter((name) => /^\.[\w-]+-plugin$/.test(name));
  return [INDEX, `.plugin/${INDEX}`, ...ofTools.map((folder) => `${folder}/${INDEX}`)];
}

function marketplaceOf(
  index: Readonly<Record<string, unknown>>,
  plugins: readonly unknown[],
  path: string,
  warnings: Warnings,
): Marketplace {
  if (plugins.length > FOUND_PLUGINS_MAX) {
    warnings.add('limit-exceeded', `${path} has more than ${FOUND_PLUGINS_MAX} plugins; the rest is left out.`, path);
  }
  const wrong = (at: number, what: string) =>
    warnings.add('manifest-field-invalid', `${path}: plugin ${at + 1} ${what}, so it is left out.`, path);
  const root =
    isRecord(index.metadata) && typeof index.metadata.pluginRoot === 'string' ? index.metadata.pluginRoot : '.';
  const entries = plugins.slice(0, FOUND_PLUGINS_MAX).flatMap((plugin, at) => {
    const listing = listingOf(plugin);
    if (!listing || !isRecord(plugin)) {
      wrong(at, 'has no name');
      return [];
    }
    const source = sourceOf(plugin.source, root);
    if (source === 'escapes') {
      warnings.add('path-escapes', `${path}: plugin ${at + 1} is outside of the marketplace, so it is left out.`, path);
    } else if (!source) wrong(at, 'has no source');
    return typeof source === 'object' ? [{ listing, source }] : [];
  });
  return { ...present({ name: text(index.name) }), entries };
}

function sourceOf(source: unknown, root: string): MarketplaceEntry['source'] | 'escapes' | undefined {
  if (isRecord(source)) return { kind: 'remote', remote: source };
  if (typeof source !== 'string' || source.trim() === '') return undefined;
  if (/^[a-z][a-z0-9+.-]+:/i.test(source.trim())) return { kind: 'remote', remote: source.trim() };
  const base = innerPath(root);
  const inner = innerPath(source);
  if (base === undefined || inner === undefined) return 'escapes';
  return { kind: 'path', path: joined(base, inner) };
}

function listingOf(plugin: unknown): PluginListing | undefined {
  if (!isRecord(plugin) || !text(plugin.name)) return undefined;
  return {
    name: text(plugin.name) ?? '',
    ...present({
      description: text(plugin.description),
      version: text(plugin.version),
      author: plugin.author,
      license: text(plugin.license),
      keywords: texts(plugin.keywords),
      skills: texts(plugin.skills),
    }),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}
