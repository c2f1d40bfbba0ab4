/** Reads a watched directory, which holds customizations of one kind. */
import type { ChildCustomizationType } from '@atrium/protocol';
import { loadAgents } from './agents.js';
import { NO_PARTS, type Parts } from './children.js';
import { isMarkdownOf } from './component-files.js';
import { FileProblem, folderNames, type PluginFiles } from './files.js';
import { hooksInFiles } from './hooks.js';
import { failedContainer, failureMessage, type LoadedContainer, type LoadOptions, loadedContainer } from './loaded.js';
import { mcpServersInFiles } from './mcp-parts.js';
import { loadPrompts } from './prompts.js';
import { Reader } from './reader.js';
import { loadRules } from './rules.js';
import { loadSkills } from './skills.js';
import type { Source } from './source.js';
import { LoadFailure, Warnings } from './warnings.js';

export interface LoadDirectoryOptions extends LoadOptions {
  readonly contents: ChildCustomizationType;
}

/** A directory that does not exist yet is an empty one. */
export async function loadDirectory(files: PluginFiles, options: LoadDirectoryOptions): Promise<LoadedContainer> {
  const warnings = new Warnings();
  const source: Source = {
    containerId: options.containerId,
    folderName: folderNames(files).at(-1) ?? '',
    reader: new Reader(files, warnings),
    warnings,
    surroundings: options,
    isStrict: false,
  };
  try {
    const exists = await isThere(files);
    return loadedContainer(exists ? await partsOf(source, options.contents) : NO_PARTS, warnings);
  } catch (error) {
    return failedContainer(failureMessage(error), warnings);
  }
}

async function isThere(files: PluginFiles): Promise<boolean> {
  try {
    return (await files.list('')) !== undefined;
  } catch (error) {
    throw error instanceof FileProblem ? new LoadFailure(error.message) : error;
  }
}

const HERE = [{ path: '', isNamed: false }];

async function partsOf(source: Source, contents: ChildCustomizationType): Promise<Parts> {
  switch (contents) {
    case 'agent':
      return { ...NO_PARTS, agents: await loadAgents(source, HERE) };
    case 'skill':
      return { ...NO_PARTS, skills: await loadSkills(source, { skills: HERE, commands: [], allowsOwn: false }) };
    case 'prompt':
      return { ...NO_PARTS, prompts: await loadPrompts(source, HERE, isPrompt) };
    case 'rule':
      return { ...NO_PARTS, rules: await loadRules(source, HERE) };
    case 'hook':
      return { ...NO_PARTS, hooks: await hooksInFiles(source, await jsonFiles(source)) };
    case 'mcpServer':
      return { ...NO_PARTS, mcpServers: await mcpServersInFiles(source, ['.mcp.json', ...(await jsonFiles(source))]) };
  }
}

/** In a directory that people write into, only the ending tells prompts from notes. */
function isPrompt(name: string): boolean {
  return name.endsWith('.prompt.md') && isMarkdownOf('prompt', name);
}

async function jsonFiles({ reader }: Source): Promise<readonly string[]> {
  const entries = (await reader.list('')) ?? [];
  return entries.filter(({ name, kind }) => kind === 'file' && name.endsWith('.json')).map(({ name }) => name);
}
