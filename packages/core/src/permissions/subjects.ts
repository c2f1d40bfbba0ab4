/** What a call is about, as far as its input shows: a command line, files, a host. Anything else is `other`. */
import path from 'node:path';
import { isRecord } from '../util/shape.js';
import { CALL_FILES_MAX } from './limits.js';

export type CallSubject =
  /** `isParsed`: the line is for a shell whose language rules understand. `shell` names another one. */
  | { readonly kind: 'command'; readonly line: string; readonly isParsed: boolean; readonly shell?: string }
  /** Without paths, it is unknown which files. */
  | { readonly kind: 'files'; readonly access: 'read' | 'write'; readonly paths?: readonly string[] }
  | { readonly kind: 'host'; readonly host: string; readonly port: number }
  | { readonly kind: 'other' };

const OTHER: CallSubject = { kind: 'other' };

/** Reads from a tool's input what the call is about. */
type Reader = (input: Readonly<Record<string, unknown>>) => CallSubject | undefined;

const file =
  (access: 'read' | 'write', ...members: readonly string[]): Reader =>
  (input) => {
    const given = members.flatMap((member) => (typeof input[member] === 'string' ? [input[member]] : []));
    return { kind: 'files', access, ...(given.length > 0 && { paths: given }) };
  };

const page: Reader = ({ url }) => hostOf(url);

/** The host's own tools. `isShellKnown`: `/bin/sh` runs the line. */
const HOST_TOOLS: Readonly<Record<string, Reader>> = {
  shell: (input) => commandOf(input.command, process.platform !== 'win32'),
  write_file: file('write', 'path'),
  edit_file: file('write', 'path'),
  apply_patch: ({ patch, input }) => patched(patch ?? input),
  read_file: file('read', 'path'),
  list_files: file('read', 'path'),
  find_files: file('read', 'path'),
  search_files: file('read', 'path'),
  web_fetch: page,
};

/** Tools that agents run themselves, by lower-case name. */
const AGENT_TOOLS: Readonly<Record<string, Reader>> = {
  bash: (input) => commandOfAgent(input.command),
  shell: (input) => commandOfAgent(input.command),
  execute: (input) => commandOfAgent(input.command),
  edit: file('write', 'file_path', 'path'),
  write: file('write', 'file_path', 'path', 'fileName'),
  multiedit: file('write', 'file_path'),
  notebookedit: file('write', 'notebook_path'),
  create: file('write', 'path'),
  delete: file('write', 'path'),
  str_replace_editor: file('write', 'path'),
  read: file('read', 'file_path', 'path'),
  view: file('read', 'path'),
  ls: file('read', 'path'),
  glob: file('read', 'path'),
  grep: file('read', 'path'),
  webfetch: page,
  web_fetch: page,
  fetch: page,
  url: page,
};

/** Agents start the user's shell, in which the user may have defined aliases. */
function commandOfAgent(command: unknown): CallSubject {
  if (process.platform === 'win32') return commandOf(command, false);
  const shell = path.posix.basename(process.env.SHELL ?? 'sh') || 'another shell';
  const isKnown = ['sh', 'bash', 'dash', 'ash'].includes(shell);
  return { ...commandOf(command, isKnown), ...(!isKnown && { shell }) };
}

export interface SubjectOptions {
  readonly tool: string;
  readonly input: unknown;
  /** Who runs the tool. `host`: the host itself; `agent`: the agent; `other`: an extension or a client. */
  readonly runs: 'host' | 'agent' | 'other';
}

export function subjectOf({ tool, input, runs }: SubjectOptions): CallSubject {
  const readers = runs === 'host' ? HOST_TOOLS : runs === 'agent' ? AGENT_TOOLS : undefined;
  const name = runs === 'agent' ? tool.toLowerCase() : tool;
  const reader = readers && Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (!reader) return OTHER;
  return reader(isRecord(input) ? input : {}) ?? OTHER;
}

function commandOf(command: unknown, isParsed: boolean): Extract<CallSubject, { kind: 'command' }> {
  if (typeof command === 'string') return { kind: 'command', line: command, isParsed };
  // Some agents give words instead of a line, and only they know how they join them.
  return { kind: 'command', line: '', isParsed: false };
}

function hostOf(url: unknown): CallSubject | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return { kind: 'host', host: hostname, port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) };
}

/** Every file that a patch names. If it names too many or none, the files are unknown. */
function patched(patch: unknown): CallSubject {
  const named =
    typeof patch === 'string' ? [...patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$/gm)] : [];
  const paths = named.flatMap(([, name]) => name ?? []);
  return { kind: 'files', access: 'write', ...(paths.length > 0 && paths.length <= CALL_FILES_MAX && { paths }) };
}
