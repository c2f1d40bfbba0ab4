/** Reads a plugin: from its files to a value that says what is in it, and what is wrong with it. */
import { loadAgents } from './agents.js';
import { NO_PARTS, type Parts } from './children.js';
import { detect } from './detect.js';
import { type Dialect, isStrict, LAYOUTS, type Layout } from './dialects.js';
import { FileProblem, folderNames, type PluginFiles } from './files.js';
import { loadHooks } from './hooks.js';
import { memberOf } from './json.js';
import { failedContainer, failureMessage, type LoadedContainer, type LoadOptions, loadedContainer } from './loaded.js';
import { locationsOf } from './locations.js';
import { type Manifest, type PluginAbout, readManifest } from './manifest.js';
import { loadMcpServers, loadStrictMcpServers } from './mcp-parts.js';
import { pluginNameFrom } from './plugin-name.js';
import { loadPrompts } from './prompts.js';
import { Reader } from './reader.js';
import { loadRules } from './rules.js';
import { loadSkills } from './skills.js';
import type { Source } from './source.js';
import { LoadFailure, Warnings } from './warnings.js';

export interface LoadedPlugin extends LoadedContainer {
  readonly name: string;
  /** Absent when this is no plugin that could be read. */
  readonly dialect?: Dialect;
  readonly about: PluginAbout;
}

export async function loadPlugin(files: PluginFiles, options: LoadOptions): Promise<LoadedPlugin> {
  const warnings = new Warnings();
  const folderName = folderNames(files).at(-1) ?? '';
  try {
    return await loadInto(warnings, files, folderName, options);
  } catch (error) {
    const failed = failedContainer(failureMessage(error), warnings);
    return { ...failed, name: pluginNameFrom(folderName), about: {} };
  }
}

async function loadInto(
  warnings: Warnings,
  files: PluginFiles,
  folderName: string,
  options: LoadOptions,
): Promise<LoadedPlugin> {
  await checkReadable(files);
  const detected = await detect(files, warnings);
  if (!detected) throw new LoadFailure('Nothing was found here that makes a plugin: no manifest and no components.');
  const { dialect } = detected;
  const manifest = readManifest(detected, folderName, warnings);
  const source: Source = {
    containerId: options.containerId,
    folderName,
    reader: new Reader(files, warnings),
    warnings,
    surroundings: options,
    isStrict: isStrict(dialect),
  };
  const parts = await (source.isStrict
    ? strictParts(source, manifest)
    : looseParts(source, LAYOUTS[dialect], manifest));
  const { name = pluginNameFrom(folderName), about = {} } = manifest ?? {};
  return { ...loadedContainer(parts, warnings), name, dialect, about };
}

async function checkReadable(files: PluginFiles): Promise<void> {
  try {
    if (await files.list('')) return;
  } catch (error) {
    throw error instanceof FileProblem ? new LoadFailure(error.message) : error;
  }
  throw new LoadFailure('The folder of the plugin does not exist.');
}

/** Agent Plugins has skills and MCP servers, each in one place. */
async function strictParts(source: Source, manifest: Manifest | undefined): Promise<Parts> {
  const { skills, mcpServers } = LAYOUTS['agent-plugins'];
  const places = skills.map((path) => ({ path, isNamed: false }));
  const [mcpFile] = mcpServers;
  return {
    ...NO_PARTS,
    skills: await loadSkills(source, { skills: places, commands: [], allowsOwn: false }),
    mcpServers: manifest && mcpFile ? await loadStrictMcpServers(source, mcpFile, manifest) : [],
  };
}

async function looseParts(source: Source, layout: Layout, manifest: Manifest | undefined): Promise<Parts> {
  const located = (key: keyof Layout, allowsInline = false) =>
    locationsOf(manifest, { key, usual: layout[key], allowsInline }, source.warnings);
  const skillPlaces = { skills: located('skills').places, commands: located('commands').places, allowsOwn: true };
  const parts: Parts = {
    agents: await loadAgents(source, located('agents').places),
    skills: await loadSkills(source, skillPlaces),
    prompts: await loadPrompts(source, located('prompts').places, (name) => name.endsWith('.md')),
    rules: await loadRules(source, located('rules').places),
    hooks: await loadHooks(source, located('hooks', true), manifest),
    mcpServers: await loadMcpServers(source, located('mcpServers', true), manifest),
  };
  noteUnsupported(source, manifest);
  return parts;
}

/** Other programs have a use for these. */
const UNSUPPORTED = ['lspServers', 'outputStyles', 'monitors', 'themes'];

function noteUnsupported({ warnings }: Source, manifest: Manifest | undefined): void {
  if (!manifest) return;
  for (const key of UNSUPPORTED.filter((name) => memberOf(manifest.json.root, name))) {
    warnings.add('component-unsupported', `${manifest.path}: this host has no use for "${key}".`, manifest.path);
  }
}
