/** Finds the plugins in a marketplace or in a folder full of plugins. */
import { detect } from './detect.js';
import { FileProblem, filesBelow, folderNames, joined, type PluginFiles } from './files.js';
import { FOUND_PLUGINS_MAX, SEARCHED_FOLDERS_MAX } from './limits.js';
import { type MarketplaceEntry, type PluginListing, readMarketplace } from './marketplace.js';
import { type Warning, Warnings } from './warnings.js';

export interface FoundPlugin {
  /** For the person who looks for it; the plugin's own manifest may say otherwise. */
  readonly listing: PluginListing;
  readonly source: MarketplaceEntry['source'];
}

export interface FoundPlugins {
  /** The name of the marketplace, if there is an index that has one. */
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
    if (await isThere(files, entry)) plugins.push(entry);
    else warnings.add('path-missing', `The plugin "${entry.listing.name}" is not where the index says.`);
  }
  return { ...marketplaceName(marketplace.name), plugins, warnings: warnings.list };
}

function marketplaceName(name: string | undefined): Pick<FoundPlugins, 'name'> {
  return name === undefined ? {} : { name };
}

async function isThere(files: PluginFiles, { source }: MarketplaceEntry): Promise<boolean> {
  return source.kind === 'remote' || (await foldersIn(files, source.path)) !== undefined;
}

const SEARCH_DEPTH_MAX = 2;

/** A folder that is a plugin is not searched any further: its skills would look like plugins of their own. */
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

/** The folders in a folder that are not hidden; undefined when it is not there or cannot be read. */
async function foldersIn(files: PluginFiles, path: string): Promise<readonly string[] | undefined> {
  try {
    const entries = await files.list(path);
    return entries?.filter(({ name, kind }) => kind === 'folder' && !name.startsWith('.')).map(({ name }) => name);
  } catch (error) {
    if (error instanceof FileProblem) return undefined;
    throw error;
  }
}
