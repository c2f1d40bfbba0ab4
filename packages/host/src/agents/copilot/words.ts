/** What Copilot's own tools do, in words for people. */
import { isRecord } from '../../core/util/shape.js';
import { shorten } from '../../core/util/text.js';
import { QUESTION_MAX_CHARACTERS, WORDS_MAX_CHARACTERS } from './limits.js';
import type { PermissionRequest } from './sdk.js';

export interface ToolWords {
  readonly displayName: string;
  /** "Run npm test" */
  readonly invocation: string;
  /** "Ran npm test" */
  readonly past: string;
}

/** The tool, its verb before and after, and the argument that says most. */
const TOOLS: Readonly<Record<string, readonly [name: string, verb: string, past: string, argument: string]>> = {
  bash: ['Shell', 'Run', 'Ran', 'command'],
  powershell: ['Shell', 'Run', 'Ran', 'command'],
  view: ['Read', 'Read', 'Read', 'path'],
  create: ['Create file', 'Create', 'Created', 'path'],
  edit: ['Edit file', 'Edit', 'Edited', 'path'],
  grep: ['Search', 'Search for', 'Searched for', 'pattern'],
  glob: ['Find files', 'Find', 'Looked for', 'pattern'],
  web_fetch: ['Fetch', 'Fetch', 'Fetched', 'url'],
  task: ['Sub-agent', 'Start a sub-agent for', 'Ran a sub-agent for', 'description'],
};

export function wordsFor(tool: string, input: unknown): ToolWords {
  const known = TOOLS[tool];
  if (!known) return { displayName: tool, invocation: `Use ${tool}`, past: `Used ${tool}` };
  const [displayName, verb, past, argument] = known;
  const value = isRecord(input) ? input[argument] : undefined;
  const object = typeof value === 'string' ? shorten(value, WORDS_MAX_CHARACTERS) : displayName;
  return { displayName, invocation: `${verb} ${object}`, past: `${past} ${object}` };
}

/** The question to a person: what exactly is wanted, and what Copilot says it is for. */
export function questionFor(request: PermissionRequest): string {
  const why = request.intention ?? '';
  const asked = `${wantedBy(request)}?`;
  const lines = [asked, why !== '' && !asked.includes(why) ? why : '', request.warning ?? ''];
  return lines.filter((line) => line !== '').join('\n');
}

function wantedBy(request: PermissionRequest): string {
  const { kind, fullCommandText, path, fileName, url, serverName, toolName, fact } = request;
  if (fullCommandText !== undefined) return `Run "${quoted(fullCommandText)}"`;
  if (fileName !== undefined) return `Write to ${quoted(fileName)}`;
  if (path !== undefined) return `Read ${quoted(path)}`;
  if (url !== undefined) return `Fetch ${quoted(url)}`;
  if (serverName !== undefined) return `Use ${quoted(toolName ?? 'a tool')} of ${quoted(serverName)}`;
  if (fact !== undefined) return `Remember "${quoted(fact)}"`;
  return `Let Copilot use ${quoted(toolName ?? kind)}`;
}

function quoted(text: string): string {
  return shorten(text, QUESTION_MAX_CHARACTERS);
}
