/** What rules may know of the turn that a prompt is for: the message, and the files that it has to do with. */
import { fileURLToPath } from 'node:url';
import type { AgentSelection, ResponsePart, ToolCallState, UserMessage } from '@atrium/protocol';
import type { RenderFacts } from '../contracts/extension.js';
import { RENDER_FILES_MAX } from '../limits.js';

/** What tools call the file that they work on. */
const PATH_MEMBERS = ['path', 'file', 'file_path', 'filePath', 'filename', 'uri'] as const;

/** One turn's files so far. It grows with the turn: the input of a call is read once, however often a prompt is made. */
export class TurnFacts {
  readonly #read = new Set<string>();
  readonly #files = new Set<string>();

  constructor(
    private readonly message: UserMessage,
    private readonly agent: AgentSelection | undefined,
  ) {
    for (const attachment of message.attachments ?? [])
      if (attachment.type === 'resource' && 'uri' in attachment) this.#add(attachment.uri);
  }

  /** As things stand with these parts of the answer. */
  after(parts: readonly ResponsePart[]): RenderFacts {
    for (const part of parts) if (part.kind === 'toolCall') this.#readCall(part.toolCall);
    return { agent: this.agent, text: this.message.text, files: [...this.#files].slice(-RENDER_FILES_MAX) };
  }

  #readCall(call: ToolCallState): void {
    if (call.status === 'streaming' || call.toolInput === undefined || this.#read.has(call.toolCallId)) return;
    this.#read.add(call.toolCallId);
    const input = parsed(call.toolInput);
    for (const member of PATH_MEMBERS) {
      const value = input[member];
      if (typeof value === 'string' && value !== '') this.#add(value);
    }
  }

  #add(file: string): void {
    const path = pathOf(file);
    if (path !== undefined) this.#files.add(path);
  }
}

function parsed(input: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Files of other machines and of clients have no path here. */
function pathOf(file: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(file)) return file;
  try {
    return file.startsWith('file:') ? fileURLToPath(file) : undefined;
  } catch {
    return undefined;
  }
}
