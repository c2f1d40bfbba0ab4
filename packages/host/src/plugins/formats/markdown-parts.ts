/** Components that are one Markdown file each: custom agents, rules (also known as instructions) and prompts. */

import {
  booleanField,
  descriptionField,
  firstTextField,
  listField,
  type MarkdownFile,
  nameField,
  nameWithout,
  readMarkdown,
} from './frontmatter.js';
import { GLOBS_MAX } from './limits.js';
import {
  componentFiles,
  filePart,
  firstByName,
  isMarkdownOf,
  type LoadContext,
  type PartBase,
  present,
} from './load-context.js';
import type { ComponentLocation } from './manifest.js';

/** Clients see its name and description; the host uses the rest. */
export interface AgentPart extends PartBase {
  readonly description?: string;
  readonly prompt: string;
  readonly model?: string;
  /** The tools that it may use; absent when the file does not say. */
  readonly tools?: readonly string[];
  readonly userInvocable?: boolean;
  readonly infer?: boolean;
  readonly disableModelInvocation?: boolean;
}

export async function loadAgents(
  context: LoadContext,
  locations: readonly ComponentLocation[],
): Promise<readonly AgentPart[]> {
  const agents: AgentPart[] = [];
  for (const path of await componentFiles(context, locations, (name) => isMarkdownOf('agent', name))) {
    const file = await readMarkdown(context, path);
    if (file) agents.push(agentOf(context, file));
  }
  return firstByName(context, 'agent', agents);
}

function agentOf(context: LoadContext, file: MarkdownFile): AgentPart {
  const name = nameField(file);
  const optional = {
    description: descriptionField(file),
    model: firstTextField(file, 'model'),
    tools: listField(file, 'tools', (text) => text.split(',').map((tool) => tool.trim())),
    userInvocable: booleanField(file, 'user-invocable'),
    infer: booleanField(file, 'infer'),
    disableModelInvocation: booleanField(file, 'disable-model-invocation'),
  };
  if (name === undefined) file.warn('required-field-missing', 'has no name; its file name is used');
  if (optional.description === undefined) file.warn('required-field-missing', 'has no description');
  const shown = name ?? nameWithout(file.path, ['.agent.md', '.md']);
  return { ...filePart(context, file, shown), ...present(optional), prompt: file.body };
}

export interface RulePart extends PartBase {
  readonly description?: string;
  readonly alwaysApply: boolean;
  /** Empty when the rule is not tied to files. */
  readonly globs: readonly string[];
  readonly body: string;
}

const RULE_ENDINGS = ['.instructions.md', '.mdc', '.md'];

export async function loadRules(
  context: LoadContext,
  locations: readonly ComponentLocation[],
): Promise<readonly RulePart[]> {
  const rules: RulePart[] = [];
  for (const path of await componentFiles(context, locations, (name) => isMarkdownOf('rule', name))) {
    const file = await readMarkdown(context, path);
    if (file) rules.push(ruleOf(context, file));
  }
  return firstByName(context, 'rule', rules);
}

function ruleOf(context: LoadContext, file: MarkdownFile): RulePart {
  const description = descriptionField(file);
  const alwaysApply = booleanField(file, 'alwaysApply') ?? false;
  const globs = globsOf(file);
  if (description === undefined && !alwaysApply && globs.length === 0) {
    file.warn('required-field-missing', 'has no description, and nothing else tells when it applies');
  }
  const name = nameField(file) ?? nameWithout(file.path, RULE_ENDINGS);
  return { ...filePart(context, file, name), ...present({ description }), alwaysApply, globs, body: file.body };
}

/** Formats of instructions use other names for the globs. */
function globsOf(file: MarkdownFile): readonly string[] {
  const key = ['globs', 'applyTo', 'paths'].find((alias) => file.fields.has(alias));
  const globs = key === undefined ? [] : (listField(file, key, splitGlobs) ?? []);
  if (globs.length > GLOBS_MAX) file.warn('limit-exceeded', `has more than ${GLOBS_MAX} globs; the rest is ignored`);
  return globs.slice(0, GLOBS_MAX);
}

/** Splits at commas, but not inside braces: `*.{js,ts},*.md` is two globs. */
export function splitGlobs(text: string): readonly string[] {
  const globs: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const character = text[at];
    if (character === '{') depth += 1;
    else if (character === '}') depth = Math.max(0, depth - 1);
    else if (character === undefined || (character === ',' && depth === 0)) {
      globs.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return globs.filter((glob) => glob !== '');
}

export interface PromptPart extends PartBase {
  readonly description?: string;
  readonly body: string;
}

const PROMPT_ENDINGS = ['.prompt.md', '.md'];

export async function loadPrompts(
  context: LoadContext,
  locations: readonly ComponentLocation[],
  isWanted: (name: string) => boolean,
): Promise<readonly PromptPart[]> {
  const prompts: PromptPart[] = [];
  for (const path of await componentFiles(context, locations, isWanted)) {
    const file = await readMarkdown(context, path);
    if (!file) continue;
    const description = descriptionField(file);
    prompts.push({
      ...filePart(context, file, nameWithout(path, PROMPT_ENDINGS)),
      ...present({ description }),
      body: file.body,
    });
  }
  return firstByName(context, 'prompt', prompts);
}
