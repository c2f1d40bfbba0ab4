/** Custom agents: Markdown files whose text is the agent's prompt. */
import { componentFiles, isMarkdownOf } from './component-files.js';
import type { Place } from './locations.js';
import {
  booleanField,
  descriptionField,
  firstTextField,
  listField,
  type MarkdownFile,
  nameField,
  nameWithout,
  readMarkdown,
} from './markdown.js';
import { present } from './present.js';
import { filePart, firstByName, type PartBase, type Source } from './source.js';

/** Clients see its name and description; the rest is for the host. */
export interface AgentPart extends PartBase {
  readonly description?: string;
  readonly prompt: string;
  readonly model?: string;
  /** The tools that it may use; absent when nothing is said about them. */
  readonly tools?: readonly string[];
  readonly userInvocable?: boolean;
  readonly infer?: boolean;
  readonly disableModelInvocation?: boolean;
}

export async function loadAgents(source: Source, places: readonly Place[]): Promise<readonly AgentPart[]> {
  const agents: AgentPart[] = [];
  for (const path of await componentFiles(source, places, (name) => isMarkdownOf('agent', name))) {
    const file = await readMarkdown(source, path);
    if (file) agents.push(agentOf(source, file));
  }
  return firstByName(source, 'agent', agents);
}

function agentOf(source: Source, file: MarkdownFile): AgentPart {
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
  return { ...filePart(source, file, shown), ...present(optional), prompt: file.body };
}
