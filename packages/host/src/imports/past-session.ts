/**
 * A session that another program has written, in our model. Each reader in this folder knows the files of one program,
 * reads them line by line, and never writes to them. It leaves out lines and members that it does not understand, and
 * uses the rest.
 */
import { shorten } from '@atrium/core/util/text.js';
import {
  ATTACHMENT_MAX_BYTES,
  MESSAGE_CONTENTS_MAX,
  type Message,
  pictureOf,
  type ResponsePart,
  type ToolCallState,
  type Turn,
  type UsageInfo,
} from '@atrium/protocol/ahp-1';

/** What a list shows of a session before it is imported. */
export interface FoundSession {
  /** The id that its program uses. */
  readonly id: string;
  readonly title: string;
  /** The path of the folder where its agent worked. */
  readonly folder?: string | undefined;
  readonly modifiedAt: string;
}

export interface PastSession extends FoundSession {
  readonly createdAt: string;
  readonly turns: readonly Turn[];
  /** How many lines and records were unreadable. */
  readonly unreadable: number;
}

/** A program whose sessions can be imported. */
export interface Source {
  readonly program: 'claude' | 'codex' | 'opencode';
  readonly name: string;
  /** The agents that could continue such a session, the best one first. */
  readonly agents: readonly string[];
  /** The newest first. Empty when the program was never used here. */
  find(): Promise<readonly FoundSession[]>;
  /** Undefined when the session does not exist. */
  read(id: string): Promise<PastSession | undefined>;
}

/** More would be too many to choose from; the newest are listed. */
export const FOUND_MAX = 2_000;
/** The length of one message, answer, input or output. Nobody writes more, and no model would read it. */
export const TEXT_MAX_CHARACTERS = 256 * 1_024;
const TITLE_MAX_CHARACTERS = 80;

export function titleOf(text: string | undefined, fallback: string): string {
  return shorten(text ?? '', TITLE_MAX_CHARACTERS) || fallback;
}

/** A timestamp of another program as ISO 8601; undefined if it is invalid. */
export function timeOf(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() < 2_000 || time.getUTCFullYear() > 9_999
    ? undefined
    : time.toISOString();
}

export type Json = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A picture as a program stored it: as base64, or as a reference to somewhere else. */
export interface PastPicture {
  readonly name?: string | undefined;
  readonly data: string | undefined;
}

/** All pictures of one session together; further ones are only named. */
const PICTURES_MAX_BYTES = 64 * 2 ** 20;
const NOT_IMPORTED = '[a picture that was not imported]';
const DATA_URL = /^data:[\w/+.-]*;base64,/;

/** The base64 of a `data:` address; undefined for any other address. */
export function dataOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !DATA_URL.test(url.slice(0, 200))) return undefined;
  return url.slice(url.indexOf(',') + 1);
}

interface PastCall {
  readonly name: string;
  /** JSON, or plain text if the tool received that. */
  readonly input: string;
  /** The program's title of the call; if absent, it is derived from the input. */
  readonly title?: string | undefined;
}

/** What a call does, from the member of the input in which most tools name it. */
function told(input: string): string | undefined {
  try {
    const given = objectOf(JSON.parse(input));
    const { description, command, cmd, file_path, filePath, path, pattern, query, url } = given;
    const text = [description, command, cmd, file_path, filePath, path, pattern, query, url].find(
      (value) => typeof value === 'string' || Array.isArray(value),
    );
    return text === undefined ? undefined : shorten(Array.isArray(text) ? text.join(' ') : String(text), 200);
  } catch {
    return undefined;
  }
}

/** The tokens of one answer; cached input is part of the input. */
export interface PastUsage {
  readonly model: string | undefined;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export function tokensOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function usageOf(all: readonly PastUsage[]): { usage?: UsageInfo } {
  const last = all.at(-1);
  if (!last) return {};
  const sum = (count: 'input' | 'cached' | 'output') => all.reduce((total, usage) => total + usage[count], 0);
  const tokens = { inputTokens: sum('input'), outputTokens: sum('output'), cacheReadTokens: sum('cached') };
  return { usage: { ...tokens, ...(last.model !== undefined && { model: last.model }) } };
}

interface ImportedPicture {
  readonly name: string;
  readonly contentType: string;
  readonly data: string;
}

interface PastResult {
  readonly isError: boolean;
  readonly at: string | undefined;
  readonly pictures?: readonly PastPicture[];
}

/** Collects everything that was said, in order, and makes finished turns of it. */
export class PastTurns {
  readonly #turns: Turn[] = [];
  readonly #prefix: string;
  /** The positions of the turn's calls. */
  readonly #calls = new Map<string, number>();
  #message: (Pick<Message, 'text' | 'attachments'> & { readonly at: string | undefined }) | undefined;
  #parts: ResponsePart[] = [];
  #lastAt: string | undefined;
  #isCancelled = false;
  /** The usage of the turn's answers, by the id of the answer, because programs repeat it with each part. */
  readonly #used = new Map<string, PastUsage>();
  #pictureBytes = 0;

  /** The prefix of the ids of turns and parts, which makes them the same at each import. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** A message of a person begins a turn. */
  ask(text: string, at: string | undefined, pictures: readonly PastPicture[] = []): void {
    this.#end();
    const { taken, missing } = this.#pictures(pictures);
    const attachments = taken.map(({ name, ...content }) => ({
      type: 'embeddedResource' as const,
      label: name,
      ...content,
    }));
    this.#message = {
      ...{ text: cut([text, ...missing].filter((line) => line !== '').join('\n')), at },
      ...(attachments.length > 0 && { attachments }),
    };
    this.#lastAt = at;
  }

  addText(kind: 'markdown' | 'reasoning', text: string, at: string | undefined): void {
    if (text.trim() === '') return;
    this.#add({ kind, id: this.#partId(), content: cut(text) }, at);
  }

  /** The work of a sub-agent for the previous call: one folded part, which no model reads again. */
  subagent(turns: readonly Turn[], at: string | undefined): void {
    const text = subagentText(turns);
    if (text !== '') this.addText('reasoning', `What the sub-agent did:\n\n${text}`, at);
  }

  note(text: string, at: string | undefined): void {
    this.#add({ kind: 'systemNotification', content: cut(text) }, at);
  }

  call(id: string, { name, input, title }: PastCall, at: string | undefined): void {
    if (this.#calls.has(id)) return;
    const call: ToolCallState = {
      status: 'cancelled',
      ...{ toolCallId: id, toolName: name, displayName: name, invocationMessage: title || told(input) || name },
      ...{ toolInput: cut(input), reason: 'skipped', reasonMessage: 'No result of this call was stored.' },
    };
    this.#add({ kind: 'toolCall', toolCall: call }, at);
    this.#calls.set(id, this.#parts.length - 1);
  }

  /** The result of a call; the result of an unknown call is left out. */
  result(id: string, output: string, { isError, at, pictures = [] }: PastResult): void {
    const index = this.#calls.get(id);
    const part = index === undefined ? undefined : this.#parts[index];
    if (index === undefined || part?.kind !== 'toolCall') return;
    const { toolCallId, toolName, displayName, invocationMessage, toolInput } = part.toolCall as ToolCallState & {
      status: 'cancelled';
    };
    const { taken, missing } = this.#pictures(pictures);
    const text = cut([output, ...missing].filter((line) => line !== '').join('\n'));
    const content = [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...taken.map(({ data, contentType }) => ({ type: 'embeddedResource' as const, data, contentType })),
    ];
    this.#parts[index] = {
      kind: 'toolCall',
      toolCall: {
        status: 'completed',
        ...{ toolCallId, toolName, displayName, invocationMessage },
        ...(toolInput !== undefined && { toolInput }),
        ...{ confirmed: 'not-needed', success: !isError, pastTenseMessage: invocationMessage },
        ...(content.length > 0 && { content }),
        ...(isError && { error: { message: shorten(output, 500) || 'the call failed' } }),
      },
    };
    this.#lastAt = at ?? this.#lastAt;
  }

  /** Takes real pictures within the limits of the message and the session, and only mentions the others. */
  #pictures(pictures: readonly PastPicture[]): { taken: ImportedPicture[]; missing: string[] } {
    const taken = pictures.slice(0, MESSAGE_CONTENTS_MAX).flatMap(({ data = '', name }, index) => {
      if (data.length > (ATTACHMENT_MAX_BYTES / 3) * 4 + 4) return [];
      const bytes = Buffer.from(data, 'base64');
      const picture = pictureOf(bytes);
      if (!picture || this.#pictureBytes + bytes.length > PICTURES_MAX_BYTES) return [];
      this.#pictureBytes += bytes.length;
      const { contentType } = picture;
      const label = name ?? `picture-${index + 1}.${contentType.slice('image/'.length)}`;
      return [{ name: label, contentType, data: bytes.toString('base64') }];
    });
    return { taken, missing: Array.from({ length: pictures.length - taken.length }, () => NOT_IMPORTED) };
  }

  /** The usage of one answer of a model, as its program counted it. */
  used(answer: string, usage: PastUsage): void {
    this.#used.set(answer, usage);
  }

  /** The person stopped the turn. */
  cancel(): void {
    this.#isCancelled = true;
  }

  finished(): readonly Turn[] {
    this.#end();
    return this.#turns;
  }

  /** An answer without a message before it, as when a session begins with a summary, still gets a turn. */
  #add(part: ResponsePart, at: string | undefined): void {
    this.#message ??= { text: '', at };
    this.#parts.push(part);
    this.#lastAt = at ?? this.#lastAt;
  }

  #partId(): string {
    return `${this.#prefix}-${this.#turns.length}-${this.#parts.length}`;
  }

  #end(): void {
    const message = this.#message;
    if (message) {
      const duration =
        message.at !== undefined && this.#lastAt !== undefined ? Date.parse(this.#lastAt) - Date.parse(message.at) : 0;
      this.#turns.push({
        id: `${this.#prefix}-${this.#turns.length}`,
        ...(message.at !== undefined && { startedAt: message.at }),
        ...(duration > 0 && { duration }),
        message: {
          ...{ text: message.text, origin: { kind: 'user' } },
          ...(message.attachments && { attachments: message.attachments }),
        },
        responseParts: this.#parts,
        ...usageOf([...this.#used.values()]),
        state: this.#isCancelled ? 'cancelled' : 'complete',
      });
    }
    this.#message = undefined;
    this.#parts = [];
    this.#calls.clear();
    this.#used.clear();
    this.#isCancelled = false;
  }
}

/** The text of one sub-agent. */
const SUBAGENT_MAX_CHARACTERS = 32 * 1_024;

/** What it said and which tools it used, in order; its task is in the input of the call. */
function subagentText(turns: readonly Turn[]): string {
  const text = turns
    .flatMap(({ message, responseParts }, index) => [
      ...(index === 0 || message.text === '' ? [] : [`> ${message.text}`]),
      ...responseParts.flatMap((part) => {
        if (part.kind === 'markdown') return [part.content];
        return part.kind === 'toolCall' ? [callText(part.toolCall)] : [];
      }),
    ])
    .join('\n\n');
  if (text.length <= SUBAGENT_MAX_CHARACTERS) return text;
  return `${text.slice(0, SUBAGENT_MAX_CHARACTERS)}\n[… ${text.length - SUBAGENT_MAX_CHARACTERS} characters were not imported]`;
}

function callText(call: ToolCallState): string {
  const failed = call.status === 'completed' && !call.success ? ' (failed)' : '';
  return `- ${call.displayName}: ${String(call.invocationMessage)}${failed}`;
}

function cut(text: string): string {
  if (text.length <= TEXT_MAX_CHARACTERS) return text;
  return `${text.slice(0, TEXT_MAX_CHARACTERS)}\n[… ${text.length - TEXT_MAX_CHARACTERS} characters were not imported]`;
}
