/**
 * Answers Copilot's permission requests: allows reading in the session's folders at once, and asks a person about
 * everything else.
 */
import type { AgentRunCall } from '@atrium/core/contracts/agent.js';
import { ALLOW_IN_SESSION, type ToolConfirmation } from '@atrium/core/contracts/tool.js';
import { resolveInside } from '@atrium/core/util/paths.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { shorten } from '@atrium/core/util/text.js';
import type { PermissionDecision, PermissionRequest } from './sdk.js';

/** Longest command or path in a line for people. */
const LABEL_MAX_CHARACTERS = 80;
/** Longest command in a question: a person must see what they agree to. */
const QUESTION_MAX_CHARACTERS = 2_000;

export interface AskingCall {
  readonly call: AgentRunCall;
  readonly displayName: string;
  /** The question that a person agreed to. */
  agreed?: string;
}

const APPROVED: PermissionDecision = { kind: 'approve-once' };

export function rejected(feedback: string): PermissionDecision {
  return { kind: 'reject', feedback };
}

/**
 * Decides a request. Like the host's own tools, Copilot reads in the folders without asking, compared by real paths, so
 * that no link leads out.
 */
export async function decide(
  request: PermissionRequest,
  asking: AskingCall,
  folders: readonly string[],
): Promise<PermissionDecision> {
  if (await readsInside(request, folders)) return APPROVED;
  const question = questionFor(request);
  // One call may ask several times: for the same, or, after a redirect, for something else. A person answers once.
  if (asking.agreed !== undefined) return asking.agreed === question ? APPROVED : rejected(notAgreed(asking.agreed));
  const permit = await asking.call.confirm(confirmationOf(question, asking.displayName));
  if (permit.kind === 'denied') return rejected(permit.reason);
  asking.agreed = question;
  return APPROVED;
}

function confirmationOf(title: string, displayName: string): ToolConfirmation {
  return {
    title,
    options: [
      { id: 'approve', label: 'Allow', kind: 'approve' },
      { id: ALLOW_IN_SESSION, label: `Allow, and do not ask about ${displayName} again here`, kind: 'approve' },
      { id: 'deny', label: 'Do not allow', kind: 'deny' },
    ],
  };
}

function notAgreed(agreed: string): string {
  return `The person was asked "${agreed}" and agreed to that only. Make this a call of its own.`;
}

async function readsInside({ kind, path }: PermissionRequest, folders: readonly string[]): Promise<boolean> {
  if (kind !== 'read' || path === undefined || folders.length === 0) return false;
  return resolveInside(folders, path).then(
    () => true,
    () => false,
  );
}

/** Words for people about a call of one of Copilot's own tools. */
interface ToolLabels {
  readonly displayName: string;
  /** "Run npm test" */
  readonly invocation: string;
  /** "Ran npm test" */
  readonly past: string;
}

/** For each tool: its name, the verb before and after the call, and the argument that says most. */
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

export function labelsFor(tool: string, input: unknown): ToolLabels {
  const known = TOOLS[tool];
  if (!known) return { displayName: tool, invocation: `Use ${tool}`, past: `Used ${tool}` };
  const [displayName, verb, past, argument] = known;
  const value = isRecord(input) ? input[argument] : undefined;
  const object = typeof value === 'string' ? shorten(value, LABEL_MAX_CHARACTERS) : displayName;
  return { displayName, invocation: `${verb} ${object}`, past: `${past} ${object}` };
}

/** The question for a person: what exactly is requested, and what Copilot says it is for. */
function questionFor(request: PermissionRequest): string {
  const why = request.intention ?? '';
  const asked = `${requestSubject(request)}?`;
  const lines = [asked, why !== '' && !asked.includes(why) ? why : '', request.warning ?? ''];
  return lines.filter((line) => line !== '').join('\n');
}

function requestSubject(request: PermissionRequest): string {
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
