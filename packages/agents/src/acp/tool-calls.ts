/** The calls of one turn that the agent runs itself: shown as far as the agent reports them, confirmed when it asks. */
import type { PermissionOption, RequestPermissionOutcome } from '@agentclientprotocol/sdk';
import type { AgentRunCall, AgentTurn, Permit } from '@atrium/core/contracts/agent.js';
import type { LastingOption, ToolConfirmation } from '@atrium/core/contracts/tool.js';
import { comingEdit, diffText } from '@atrium/core/util/file-edit.js';
import { isRecord } from '@atrium/core/util/shape.js';
import type { FileEdit, ToolResultContent } from '@atrium/protocol/ahp-1';

/** How many calls of one turn are tracked. */
const CALLS_MAX = 10_000;
const TITLE_MAX_CHARACTERS = 500;
const CALL_ID_MAX_CHARACTERS = 500;
/** How much of one call's output is shown. */
const RESULT_MAX_CHARACTERS = 64 * 2 ** 10;

/** True when a call is one of the host's tools; `wasHosts` when it seemed so before. */
type IsHosts = (fields: CallFields, wasHosts?: boolean) => boolean;
type Question = Pick<ToolConfirmation, 'options'>;

interface Seen {
  fields: CallFields;
  /** The call that people see; absent for the host's tools, which the host itself shows. */
  call: AgentRunCall | undefined;
  /** People see it running, so it is too late to ask. */
  isRunning: boolean;
  isOver: boolean;
  /** Set while a gate or a person decides. */
  asking: Promise<Permit> | undefined;
}

export class OwnCalls {
  readonly #turn: AgentTurn;
  readonly #isHosts: IsHosts;
  readonly #seen = new Map<string, Seen>();
  readonly #completing: Promise<unknown>[] = [];

  constructor(turn: AgentTurn, isHosts: IsHosts) {
    this.#turn = turn;
    this.#isHosts = isHosts;
  }

  /** Takes in a report about a call. The first report may have any of the fields. */
  reported(fields: CallFields): void {
    const seen = this.#take(fields);
    if (!seen?.call || seen.isOver) return;
    const { status, content } = seen.fields;
    if (status === 'completed' || status === 'failed') return this.#end(seen);
    // Until the call runs, a person may still be asked, and its content is only a plan.
    if (status !== 'in_progress' || !content || seen.asking) return;
    this.#runs(seen);
    seen.call.progress(resultContent(content, undefined));
  }

  /** Asks whether a call may run. Undefined for the host's tools, about which the host itself asks. */
  async ask(fields: CallFields, question: Question): Promise<Permit | undefined> {
    const seen = this.#take(fields);
    if (!seen) return { kind: 'denied', reason: 'there are too many calls in this turn' };
    // Judge by everything known now: a call that began as one of the host's may turn out to be another.
    if (this.#isHosts(seen.fields, seen.call === undefined)) return undefined;
    const asking = permitFor(this.#askable(seen), seen.fields, question);
    seen.asking = asking;
    const permit = await asking.finally(() => {
      seen.asking = undefined;
    });
    if (permit.kind === 'granted') seen.isRunning = true;
    else seen.isOver = true;
    return permit;
  }

  /** Ends the turn's calls: those whose end the agent never reported count as failed. */
  async end(): Promise<void> {
    for (const seen of this.#seen.values()) if (seen.call && !seen.isOver) this.#end(seen);
    await Promise.allSettled(this.#completing);
  }

  #take(fields: CallFields): Seen | undefined {
    const known = this.#seen.get(fields.toolCallId);
    if (known) {
      known.fields = { ...known.fields, ...fields };
      return known;
    }
    if (this.#seen.size >= CALLS_MAX) return undefined;
    const call = this.#isHosts(fields) ? undefined : this.#start(fields, fields.toolCallId);
    const seen: Seen = { fields, call, isRunning: false, isOver: false, asking: undefined };
    this.#seen.set(fields.toolCallId, seen);
    return seen;
  }

  #start(fields: CallFields, id?: string): AgentRunCall {
    const start = { name: nameOf(fields), displayName: titleOf(fields) };
    return this.#turn.agentRunCall(id === undefined ? start : { id, ...start });
  }

  /** The call to ask about. If it is too late, because it runs already, the question gets a call of its own. */
  #askable(seen: Seen): AgentRunCall {
    if (seen.call && !seen.isRunning && !seen.isOver) return seen.call;
    if (seen.call && !seen.isOver) this.#end(seen);
    const call = this.#start(seen.fields);
    seen.call = call;
    seen.isOver = false;
    seen.isRunning = false;
    return call;
  }

  /** Shows that the call runs without a question. */
  #runs(seen: Seen): void {
    if (seen.isRunning) return;
    seen.isRunning = true;
    seen.call?.shown(inputOf(seen.fields), titleOf(seen.fields));
  }

  #end(seen: Seen): void {
    if (!seen.asking) this.#runs(seen);
    seen.isOver = true;
    this.#completing.push(complete(seen).catch(() => {}));
  }
}

async function permitFor(call: AgentRunCall, fields: CallFields, { options }: Question): Promise<Permit> {
  const title = titleOf(fields);
  const checked = await call.check(inputOf(fields), title);
  if (checked.kind === 'denied') return checked;
  const edits = comingEdits(fields.content);
  return call.confirm({ title, ...(options && { options }), ...(edits.length > 0 && { edits }) });
}

/** Completes a call. Waits for the permission first: some agents report a result before they have one. */
async function complete({ fields, call, asking }: Seen): Promise<void> {
  const permit = await asking;
  if (!call || permit?.kind === 'denied') return;
  const { status } = fields;
  const isKnown = status === 'completed' || status === 'failed';
  await call.complete({
    success: status === 'completed',
    pastTenseMessage: titleOf(fields),
    content: resultContent(fields.content, fields.rawOutput),
    ...(!isKnown && { error: { message: 'the agent did not tell how this ended' } }),
  });
}

/** What an agent has reported of one call so far. Every message may add some of it, in any order. */
export interface CallFields {
  readonly toolCallId: string;
  readonly title?: string;
  readonly name?: string;
  readonly kind?: string;
  readonly status?: string;
  readonly content?: readonly unknown[];
  readonly locations?: readonly unknown[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

/** Reads a report about a call; undefined when it names none. */
export function callFields(update: unknown): CallFields | undefined {
  if (!isRecord(update) || typeof update.toolCallId !== 'string') return undefined;
  if (update.toolCallId.length > CALL_ID_MAX_CHARACTERS) return undefined;
  const { toolCallId, title, name, kind, status, content, locations, rawInput, rawOutput } = update;
  return {
    toolCallId,
    ...(typeof title === 'string' && title !== '' && { title: cut(title, TITLE_MAX_CHARACTERS) }),
    ...(typeof name === 'string' && name !== '' && { name: cut(name, TITLE_MAX_CHARACTERS) }),
    ...(typeof kind === 'string' && { kind }),
    ...(typeof status === 'string' && { status }),
    ...(Array.isArray(content) && { content }),
    ...(Array.isArray(locations) && { locations }),
    ...(rawInput !== undefined && rawInput !== null && { rawInput }),
    ...(rawOutput !== undefined && rawOutput !== null && { rawOutput }),
  };
}

/** The title that people see. */
function titleOf({ title, name, kind }: CallFields): string {
  return title ?? name ?? (kind === undefined || kind === 'other' ? 'Use a tool' : kind);
}

/** The name that gates see: the tool's name if the agent reports it, otherwise its kind. */
function nameOf({ name, kind }: CallFields): string {
  return name ?? kind ?? 'other';
}

/** The input that gates and people see; without one, what the call is about. */
function inputOf({ rawInput, title, locations }: CallFields): unknown {
  return rawInput ?? { ...(title !== undefined && { title }), ...(locations && { locations }) };
}

export const CANCELLED: RequestPermissionOutcome = { outcome: 'cancelled' };

/** The agent's options as options for people. */
export function confirmationOptions(options: readonly PermissionOption[]): LastingOption[] {
  return options.map(({ optionId, name, kind }) => ({
    id: optionId,
    label: name,
    kind: kind.startsWith('allow') ? 'approve' : 'deny',
    ...(kind.endsWith('_always') && { lasting: true }),
  }));
}

/**
 * The agent's option that matches a decision. Without a permit, the agent may go on once, because the host asks later.
 */
export function outcomeOf(permit: Permit | undefined, options: readonly PermissionOption[]): RequestPermissionOutcome {
  const wanted = permit === undefined || permit.kind === 'granted' ? 'allow' : 'reject';
  const chosen = options.find(({ optionId, kind }) => optionId === permit?.option && kind.startsWith(wanted));
  // Only people choose a permanent option, unless the agent offers no other way to allow the call.
  const usual = options.find(({ kind }) => kind === `${wanted}_once`);
  const last = wanted === 'allow' ? options.find(({ kind }) => kind === 'allow_always') : undefined;
  const option = chosen ?? usual ?? last;
  return option ? { outcome: 'selected', optionId: option.optionId } : CANCELLED;
}

/** The text of a content block; images and sounds are only named. */
export function blockText(block: unknown): string {
  if (!isRecord(block)) return '';
  const { type, text, uri, name, resource, mimeType } = block;
  if (type === 'text') return typeof text === 'string' ? text : '';
  if (type === 'resource_link') return `[${String(name ?? uri)}](${String(uri)})`;
  if (type === 'resource' && isRecord(resource)) return String(resource.text ?? resource.uri ?? '');
  return typeof mimeType === 'string' ? `[${mimeType}]` : '';
}

/** The output of a call: the content that the agent shows, otherwise the tool's raw output. */
function resultContent(content: unknown, rawOutput: unknown): ToolResultContent[] {
  const shown = (Array.isArray(content) ? content : []).map(shownText).filter((text) => text !== '');
  const text = shown.join('\n') || rawText(rawOutput);
  return text === '' ? [] : [{ type: 'text', text: cut(text, RESULT_MAX_CHARACTERS) }];
}

function shownText(item: unknown): string {
  if (!isRecord(item)) return '';
  if (item.type === 'content') return blockText(item.content);
  const change = changeOf(item);
  return change ? `${change.path}: ${diffText(change)}` : '';
}

/** The changes that a call would make, for the person who is asked. */
function comingEdits(content: unknown): FileEdit[] {
  return (Array.isArray(content) ? content : []).flatMap((item) => {
    const change = isRecord(item) ? changeOf(item) : undefined;
    return change?.path.startsWith('/')
      ? comingEdit({ file: { real: change.path, shown: change.path }, ...change })
      : [];
  });
}

function changeOf({ type, path, oldText, newText }: Record<string, unknown>) {
  if (type !== 'diff' || typeof path !== 'string' || typeof newText !== 'string') return undefined;
  return { path, after: newText, ...(typeof oldText === 'string' && { before: { text: oldText } }) };
}

function rawText(output: unknown): string {
  if (output === undefined || output === null) return '';
  if (typeof output === 'string') return output;
  const inner = isRecord(output) ? (output.output ?? output.stdout ?? output.text) : undefined;
  return typeof inner === 'string' ? inner : JSON.stringify(output);
}

function cut(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1)}…`;
}
