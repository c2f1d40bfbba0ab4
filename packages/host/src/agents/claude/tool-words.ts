/** How calls of Claude's own tools are put to people: what one is about, what it did, and what came out. */
import path from 'node:path';
import { ALLOW_IN_SESSION, type ToolConfirmation } from '../../core/contracts/tool.js';
import { isRecord } from '../../core/util/shape.js';
import { shorten } from '../../core/util/text.js';
import { SHOWN_RESULT_MAX_CHARACTERS, SUBJECT_MAX_CHARACTERS } from './limits.js';
import { ASK_TOOL } from './questions.js';

interface Words {
  readonly now: string;
  readonly done: string;
  /** The member of the input that says what it is about. */
  readonly subject: string;
  readonly isPath?: boolean;
}

const WORDS: Readonly<Record<string, Words>> = {
  Agent: { now: 'Start a sub-agent for', done: 'Started a sub-agent for', subject: 'description' },
  Bash: { now: 'Run', done: 'Ran', subject: 'command' },
  Edit: { now: 'Edit', done: 'Edited', subject: 'file_path', isPath: true },
  Glob: { now: 'Find files like', done: 'Looked for files like', subject: 'pattern' },
  Grep: { now: 'Search for', done: 'Searched for', subject: 'pattern' },
  NotebookEdit: { now: 'Edit', done: 'Edited', subject: 'notebook_path', isPath: true },
  Read: { now: 'Read', done: 'Read', subject: 'file_path', isPath: true },
  WebFetch: { now: 'Fetch', done: 'Fetched', subject: 'url' },
  WebSearch: { now: 'Search the web for', done: 'Searched the web for', subject: 'query' },
  Write: { now: 'Write', done: 'Wrote', subject: 'file_path', isPath: true },
};

/** `WebFetch` → `Web Fetch` */
export function displayName(tool: string): string {
  if (tool === ASK_TOOL) return 'Ask';
  return tool.replaceAll(/([a-z])([A-Z])/g, '$1 $2');
}

export interface CallWords {
  /** "Run "ls"". */
  readonly now: string;
  /** "Ran "ls"". */
  readonly done: string;
}

export function callWords(tool: string, input: unknown, folder: string): CallWords {
  const words = WORDS[tool];
  const value = words && isRecord(input) ? input[words.subject] : undefined;
  if (!words || typeof value !== 'string')
    return { now: `Use ${displayName(tool)}`, done: `Used ${displayName(tool)}` };
  const subject = words.isPath ? withinFolder(value, folder) : `"${shorten(value, SUBJECT_MAX_CHARACTERS)}"`;
  return { now: `${words.now} ${subject}`, done: `${words.done} ${subject}` };
}

function withinFolder(file: string, folder: string): string {
  const relative = path.relative(folder, file);
  return relative === '' || relative.startsWith('..') ? file : relative;
}

export function confirmationOf(tool: string, { now }: CallWords): ToolConfirmation {
  const all = tool === 'Bash' ? 'all commands' : `${displayName(tool)} at all times`;
  return {
    title: `${now}?`,
    editable: true,
    options: [
      { id: 'approve', label: 'Allow', kind: 'approve' },
      { id: ALLOW_IN_SESSION, label: `Allow ${all} in this session`, kind: 'approve' },
      { id: 'deny', label: 'Do not allow', kind: 'deny' },
    ],
  };
}

/** Every tool answers in a shape of its own; what people can read of it is in one of a few places. */
export function resultText(response: unknown): string {
  return readable(response).slice(0, SHOWN_RESULT_MAX_CHARACTERS);
}

function readable(response: unknown): string {
  if (typeof response === 'string') return response;
  if (Array.isArray(response)) return response.flatMap(blockText).join('\n');
  if (!isRecord(response)) return JSON.stringify(response ?? '');
  const { stdout, stderr, file, content, answers } = response;
  if (typeof stdout === 'string') return [stdout, stderr].filter((text) => typeof text === 'string' && text).join('\n');
  if (isRecord(file) && typeof file.content === 'string') return file.content;
  if (Array.isArray(content)) return content.flatMap(blockText).join('\n');
  if (isRecord(answers)) return Object.values(answers).join('\n');
  return typeof content === 'string' ? content : JSON.stringify(response);
}

function blockText(block: unknown): string[] {
  if (typeof block === 'string') return [block];
  return isRecord(block) && typeof block.text === 'string' ? [block.text] : [];
}
