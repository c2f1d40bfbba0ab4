/** Reads a plugin or a watched directory: turns its files into parts and warnings. */
import type {
  ChildCustomization,
  ChildCustomizationType,
  CustomizationLoadState,
  HookCustomization,
  McpServerCustomization,
} from '@atrium/protocol/ahp-1';
import { type HookEvent, type HookPart, hooksInFiles, loadHooks } from './hook-declarations.js';
import { memberOf } from './json.js';
import { CHILDREN_MAX } from './limits.js';
import { isMarkdownOf, type LoadContext, type PartBase, present, Reader } from './load-context.js';
import { locationsOf, type Manifest, type PluginAbout, pluginNameFrom, readManifest } from './manifest.js';
import {
  type AgentPart,
  loadAgents,
  loadPrompts,
  loadRules,
  type PromptPart,
  type RulePart,
} from './markdown-parts.js';
import { loadMcpServers, loadStrictMcpServers, type McpServerPart, mcpServersInFiles } from './mcp-declarations.js';
import type { ExpansionContext } from './placeholders.js';
import { byCodeUnits, FileProblem, folderNames, type PluginFiles } from './plugin-files.js';
import { detect, isStrict, LAYOUTS, type Layout, type PluginFormat } from './plugin-formats.js';
import { loadSkills, type SkillPart } from './skills.js';
import { LoadFailure, type Warning, Warnings } from './warnings.js';

export interface LoadedPlugin extends LoadedContainer {
  readonly name: string;
  /** Absent when the plugin could not be read. */
  readonly dialect?: PluginFormat;
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
  if (!(await exists(files))) throw new LoadFailure('The folder of the plugin does not exist.');
  const detected = await detect(files, warnings);
  if (!detected) throw new LoadFailure('Nothing was found here that makes a plugin: no manifest and no components.');
  const { dialect } = detected;
  const manifest = readManifest(detected, folderName, warnings);
  const context = contextOf(files, options, { warnings, isStrict: isStrict(dialect) });
  const parts = await (context.isStrict
    ? strictParts(context, manifest)
    : looseParts(context, LAYOUTS[dialect], manifest));
  const { name = pluginNameFrom(folderName), about = {} } = manifest ?? {};
  return { ...loadedContainer(parts, warnings), name, dialect, about };
}

function contextOf(
  files: PluginFiles,
  options: LoadOptions,
  rest: Pick<LoadContext, 'warnings' | 'isStrict'>,
): LoadContext {
  return {
    ...rest,
    containerId: options.containerId,
    folderName: folderNames(files).at(-1) ?? '',
    reader: new Reader(files, rest.warnings),
    expansion: options,
  };
}

/** Whether the container's folder exists. Throws `LoadFailure` when it cannot be read. */
async function exists(files: PluginFiles): Promise<boolean> {
  try {
    return (await files.list('')) !== undefined;
  } catch (error) {
    throw error instanceof FileProblem ? new LoadFailure(error.message) : error;
  }
}

/** Agent Plugins have only skills and MCP servers, each in one place. */
async function strictParts(context: LoadContext, manifest: Manifest | undefined): Promise<ContainerParts> {
  const { skills, mcpServers } = LAYOUTS['agent-plugins'];
  const locations = skills.map((path) => ({ path, isNamed: false }));
  const [mcpFile] = mcpServers;
  return {
    ...NO_PARTS,
    skills: await loadSkills(context, { skills: locations, commands: [], allowsOwn: false }),
    mcpServers: manifest && mcpFile ? await loadStrictMcpServers(context, mcpFile, manifest) : [],
  };
}

async function looseParts(
  context: LoadContext,
  layout: Layout,
  manifest: Manifest | undefined,
): Promise<ContainerParts> {
  const located = (key: keyof Layout, allowsInline = false) =>
    locationsOf(manifest, { key, usual: layout[key], allowsInline }, context.warnings);
  const skillLocations = {
    skills: located('skills').locations,
    commands: located('commands').locations,
    allowsOwn: true,
  };
  const parts: ContainerParts = {
    agents: await loadAgents(context, located('agents').locations),
    skills: await loadSkills(context, skillLocations),
    prompts: await loadPrompts(context, located('prompts').locations, (name) => name.endsWith('.md')),
    rules: await loadRules(context, located('rules').locations),
    hooks: await loadHooks(context, located('hooks', true), manifest),
    mcpServers: await loadMcpServers(context, located('mcpServers', true), manifest),
  };
  noteUnsupported(context, manifest);
  return parts;
}

/** Components for other programs. */
const UNSUPPORTED = ['lspServers', 'outputStyles', 'monitors', 'themes'];

function noteUnsupported({ warnings }: LoadContext, manifest: Manifest | undefined): void {
  if (!manifest) return;
  for (const key of UNSUPPORTED.filter((name) => memberOf(manifest.json.root, name))) {
    warnings.add('component-unsupported', `${manifest.path}: this host has no use for "${key}".`, manifest.path);
  }
}

export interface LoadDirectoryOptions extends LoadOptions {
  readonly contents: ChildCustomizationType;
  /** Whether every Markdown file in it is a command. */
  readonly isOfCommands?: boolean;
}

/** Reads a directory, which holds customizations of one kind. A directory that does not exist yet is empty. */
export async function loadDirectory(files: PluginFiles, options: LoadDirectoryOptions): Promise<LoadedContainer> {
  const warnings = new Warnings();
  const context = contextOf(files, options, { warnings, isStrict: false });
  try {
    return loadedContainer((await exists(files)) ? await componentsOf(context, options) : NO_PARTS, warnings);
  } catch (error) {
    return failedContainer(failureMessage(error), warnings);
  }
}

const HERE = [{ path: '', isNamed: false }];

async function componentsOf(
  context: LoadContext,
  { contents, isOfCommands }: Pick<LoadDirectoryOptions, 'contents' | 'isOfCommands'>,
): Promise<ContainerParts> {
  switch (contents) {
    case 'agent':
      return { ...NO_PARTS, agents: await loadAgents(context, HERE) };
    case 'skill':
      return { ...NO_PARTS, skills: await loadSkills(context, { skills: HERE, commands: [], allowsOwn: false }) };
    case 'prompt':
      return { ...NO_PARTS, prompts: await loadPrompts(context, HERE, isOfCommands ? isCommand : isPrompt) };
    case 'rule':
      return { ...NO_PARTS, rules: await loadRules(context, HERE) };
    case 'hook':
      return { ...NO_PARTS, hooks: await hooksInFiles(context, await jsonFiles(context)) };
    case 'mcpServer':
      return {
        ...NO_PARTS,
        mcpServers: await mcpServersInFiles(context, ['.mcp.json', ...(await jsonFiles(context))]),
      };
  }
}

function isCommand(name: string): boolean {
  return isMarkdownOf('prompt', name);
}

/** In a directory that people write to, only the ending distinguishes prompts from notes. */
function isPrompt(name: string): boolean {
  return name.endsWith('.prompt.md') && isMarkdownOf('prompt', name);
}

async function jsonFiles({ reader }: LoadContext): Promise<readonly string[]> {
  const entries = (await reader.list('')) ?? [];
  return entries.filter(({ name, kind }) => kind === 'file' && name.endsWith('.json')).map(({ name }) => name);
}

export interface LoadOptions extends ExpansionContext {
  /** Prefix of the ids of all children. */
  readonly containerId: string;
}

export interface LoadedContainer extends ContainerParts {
  readonly load: CustomizationLoadState;
  readonly warnings: readonly Warning[];
  /** As clients see them. */
  readonly children: readonly ChildCustomization[];
}

function loadedContainer(parts: ContainerParts, warnings: Warnings): LoadedContainer {
  const kept = withinLimit(parts, warnings);
  return { ...kept, load: warnings.loadState(), warnings: warnings.list, children: childrenOf(kept) };
}

function failedContainer(message: string, warnings: Warnings): LoadedContainer {
  return { ...NO_PARTS, load: { kind: 'error', message }, warnings: warnings.list, children: [] };
}

/** Every other error is a defect of the host, and must not look like a broken plugin. */
function failureMessage(error: unknown): string {
  if (error instanceof LoadFailure) return error.message;
  throw error;
}

function withinLimit(parts: ContainerParts, warnings: Warnings): ContainerParts {
  let room = CHILDREN_MAX;
  const kept = <Part>(list: readonly Part[]): readonly Part[] => {
    const fitting = list.slice(0, room);
    room -= fitting.length;
    if (fitting.length < list.length) {
      warnings.add('limit-exceeded', `There are more than ${CHILDREN_MAX} customizations; the rest is left out.`);
    }
    return fitting;
  };
  return {
    agents: kept(parts.agents),
    skills: kept(parts.skills),
    prompts: kept(parts.prompts),
    rules: kept(parts.rules),
    hooks: kept(parts.hooks),
    mcpServers: kept(parts.mcpServers),
  };
}

/** The parts of a container, for the host. Each has the id of its child. */
export interface ContainerParts {
  readonly agents: readonly AgentPart[];
  readonly skills: readonly SkillPart[];
  readonly prompts: readonly PromptPart[];
  readonly rules: readonly RulePart[];
  readonly hooks: readonly HookPart[];
  readonly mcpServers: readonly McpServerPart[];
}

/** The parts except those with these ids. */
export function partsWithout(parts: ContainerParts, off: ReadonlySet<string>): ContainerParts {
  if (off.size === 0) return parts;
  const on = <Part extends PartBase>(each: readonly Part[]) => each.filter(({ id }) => !off.has(id));
  const { agents, skills, prompts, rules, hooks, mcpServers } = parts;
  const kept = { agents: on(agents), skills: on(skills), prompts: on(prompts), rules: on(rules), hooks: on(hooks) };
  return { ...kept, mcpServers };
}

const NO_PARTS: ContainerParts = { agents: [], skills: [], prompts: [], rules: [], hooks: [], mcpServers: [] };

/** Hooks have members beyond those in the protocol's own types. */
type HookChild = HookCustomization & { readonly event: HookEvent; readonly matcher?: string };

/** The children that clients see, by type, then by name. They never contain commands, addresses or secrets. */
function childrenOf(parts: ContainerParts): readonly ChildCustomization[] {
  return [
    ...sorted(parts.agents.map(agentChild)),
    ...sorted(parts.skills.map(skillChild)),
    ...sorted(parts.prompts.map(promptChild)),
    ...sorted(parts.rules.map(ruleChild)),
    ...sorted(parts.hooks.map(hookChild)),
    ...sorted(parts.mcpServers.map(mcpServerChild)),
  ];
}

function sorted<Child extends PartBase>(children: readonly Child[]): readonly Child[] {
  return children.toSorted((a, b) => byCodeUnits(a.name, b.name) || byCodeUnits(a.id, b.id));
}

function base<Type extends string>(type: Type, { id, uri, name }: PartBase) {
  return { type, id, uri, name };
}

function agentChild(part: AgentPart): ChildCustomization {
  return { ...base('agent', part), ...present({ description: part.description }) };
}

function skillChild(part: SkillPart): ChildCustomization {
  const { description } = part;
  const disableModelInvocation = part.disableModelInvocation || undefined;
  return { ...base('skill', part), ...present({ description, disableModelInvocation }) };
}

function promptChild(part: PromptPart): ChildCustomization {
  return { ...base('prompt', part), ...present({ description: part.description }) };
}

function ruleChild(part: RulePart): ChildCustomization {
  const { description, alwaysApply } = part;
  const globs = part.globs.length > 0 ? [...part.globs] : undefined;
  return { ...base('rule', part), ...present({ description, globs }), alwaysApply };
}

function hookChild(part: HookPart): HookChild {
  const { range, event, matcher } = part;
  return { ...base('hook', part), range, event, ...present({ matcher }) };
}

/** A declared server has not been started yet. */
function mcpServerChild(part: McpServerPart): McpServerCustomization {
  return { ...base('mcpServer', part), range: part.range, state: { kind: 'stopped' } };
}
