/** Encodes what a group of channels did in one tick: once for each dialect, for all clients that speak it. */
import { type ActionEnvelope, type ActionOrigin, type ChatState, findPart } from '@atrium/protocol/ahp-1';
import type { ActionFrame, ChannelMemory, Dialect, DialectStep, DialectView, StepGroup } from './dialects/dialects.js';
import { type AppendedText, type Growth, type Outgoing, outgoing, outgoingDelta } from './frames.js';
import { MERGED_OUTPUT_MAX_CHARACTERS } from './limits.js';

/** A step, with its action as the JSON that was stored; undefined when it was not stored. */
export interface TextStep extends DialectStep {
  readonly text?: string | undefined;
}

export interface TextGroup extends StepGroup {
  readonly steps: readonly TextStep[];
  /** The steps, only while their tick is being shown: messages kept longer must not keep the states in memory. */
  readonly atHand: { steps: readonly TextStep[] };
}

/** A message with its number in the sequence, and the origin of the action that it echoes. */
export interface NumberedMessage {
  readonly seq: number;
  /** Its wire channel; undefined for a message to one client alone. */
  readonly channel?: string | undefined;
  readonly origin: ActionOrigin | undefined;
  readonly message: Outgoing;
}

export interface Encoded {
  readonly numbered: readonly NumberedMessage[];
  /** The same messages as a list, ready to send. */
  readonly messages: readonly Outgoing[];
  /** The wire channels of the messages, without duplicates. */
  readonly channels: readonly string[];
  /** Set when connections of this dialect must connect again for a snapshot: the reason. */
  readonly close: string | undefined;
}

export function encode(dialect: Dialect, memory: ChannelMemory, group: TextGroup, view: DialectView): Encoded {
  const { frames, close } = dialect.encodeSteps(memory, group, view);
  const placeOf = placesIn(group.steps);
  return encodedOf(
    frames.map((frame) => numbered(dialect, frame, { group, place: placeOf(frame.params) })),
    close,
  );
}

/** Finds the step of a frame. Frames come in the order of their steps. */
function placesIn(steps: readonly TextStep[]): (params: object) => number {
  let at = 0;
  return (params) => {
    const { serverSeq } = envelopeIn(params);
    for (let step = steps[at]; step && step.envelope.serverSeq < serverSeq; step = steps[at]) at += 1;
    return at;
  };
}

/** The envelope as JSON, built around an action that is JSON already. */
export function envelopeText({ channel, serverSeq, origin }: ActionEnvelope, actionText: string): string {
  const whose = origin ? `,"origin":${JSON.stringify(origin)}` : '';
  return `{"channel":${JSON.stringify(channel)},"action":${actionText},"serverSeq":${serverSeq}${whose}}`;
}

export function encodedOf(list: readonly NumberedMessage[], close?: string | undefined): Encoded {
  const channels: string[] = [];
  for (const { channel } of list) if (channel !== undefined && !channels.includes(channel)) channels.push(channel);
  return { numbered: list, messages: list.map(({ message }) => message), channels, close };
}

/**
 * The messages on some wire channels, plus the echoes for one client, which may act on channels that it does not watch.
 * Returns the same object when that is all of them.
 */
export function onChannels(encoded: Encoded, channels: ReadonlySet<string>, clientId: string | undefined): Encoded {
  if (hasAll(channels, encoded.channels)) return encoded;
  const concerns = ({ channel, origin }: NumberedMessage) =>
    channel === undefined || channels.has(channel) || (origin !== undefined && origin.clientId === clientId);
  return encodedOf(encoded.numbered.filter(concerns), encoded.close);
}

/** Whether all of these channels are in a set. Called for each client, so it makes no function. */
function hasAll(channels: ReadonlySet<string>, wanted: readonly string[]): boolean {
  for (const channel of wanted) if (!channels.has(channel)) return false;
  return true;
}

/** The step that a frame comes from. */
interface Source {
  readonly group: TextGroup;
  /** Index of the step. */
  readonly place: number;
}

function numbered(dialect: Dialect, frame: ActionFrame, source: Source): NumberedMessage {
  const { method, params, channel, origin } = frame;
  const plain = { jsonrpc: '2.0', method, params };
  const step = source.group.steps[source.place];
  // Many dialects pass most envelopes on unchanged, so the stored text can be used.
  const stored = step?.envelope === params ? step.text : undefined;
  const text =
    stored === undefined
      ? JSON.stringify(plain)
      : `{"jsonrpc":"2.0","method":"${method}","params":${envelopeText(params as ActionEnvelope, stored)}}`;
  const message = outgoingDelta(text, deltaOf(dialect, plain, source));
  return { seq: envelopeIn(params).serverSeq, channel, origin, message };
}

/** The message without the name of the client that asked for the action. */
export function withoutOrigin({ seq, channel, message }: NumberedMessage): NumberedMessage {
  const { params, ...rest } = JSON.parse(message.text) as { params: object };
  const { origin: _origin, ...envelope } = envelopeIn(params) as Envelope & { origin?: ActionOrigin };
  return { seq, channel, origin: undefined, message: outgoing({ ...rest, params: around(params, envelope) }) };
}

interface Envelope {
  readonly serverSeq: number;
  readonly channel?: string;
  readonly action: {
    readonly type: string;
    readonly session?: string;
    readonly turnId?: string;
    readonly partId?: string;
    readonly content?: unknown;
    readonly data?: unknown;
  };
}

/** The envelope inside a message: an older wire wraps it once more, or sends it in both forms. */
function envelopeIn(params: object): Envelope {
  return 'envelope' in params ? (params.envelope as Envelope) : (params as Envelope);
}

/** Puts another envelope into a message of the same form. */
function around(params: object, envelope: object): object {
  if (!('envelope' in params)) return envelope;
  return 'serverSeq' in params ? { ...envelope, envelope } : { envelope };
}

/** Actions that append text, with the member that holds it. */
const GROWING = new Map<string, 'content' | 'data'>([
  ['chat/delta', 'content'],
  ['chat/reasoning', 'content'],
  ['session/delta', 'content'],
  ['session/reasoning', 'content'],
  ['terminal/data', 'data'],
]);

/** The text that a delta appends, so that it can be merged with the next one. */
function deltaOf(dialect: Dialect, message: { readonly params: object }, source: Source): AppendedText | undefined {
  const { params } = message;
  const envelope = envelopeIn(params);
  const { type, session, turnId, partId } = envelope.action;
  const member = GROWING.get(type);
  const content = member && envelope.action[member];
  if (member === undefined || typeof content !== 'string') return undefined;
  const key = `${dialect.traits.version} ${envelope.channel ?? session} ${type} ${turnId} ${partId}`;
  const withContent = (text: string) => {
    const rebuilt = { ...envelope, action: { ...envelope.action, [member]: text } };
    return { ...message, params: around(params, rebuilt) };
  };
  if (member === 'data') return { key, content, withContent, maxCharacters: MERGED_OUTPUT_MAX_CHARACTERS };
  return { key, content, withContent, growth: growthIn(source, envelope.serverSeq, content) };
}

/**
 * Looks up a text in the state before and after this content was appended. Keeps the index, not the step with its
 * states.
 */
function growthIn({ group: { atHand }, place }: Source, seq: number, content: string): () => Growth | undefined {
  return () => {
    const step = atHand.steps[place];
    const action = step?.envelope.serverSeq === seq ? step.envelope.action : undefined;
    if (!step || (action?.type !== 'chat/delta' && action?.type !== 'chat/reasoning')) return undefined;
    // Without this check, a dialect's own wording of the action would be taken for the stored one.
    if (action.content !== content) return undefined;
    const before = textIn(step.before, action);
    const after = textIn(step.after, action);
    if (before === undefined || after?.length !== before.length + content.length) return undefined;
    return { before, after };
  };
}

interface Place {
  readonly turnId: string;
  readonly partId: string;
}

function textIn(state: unknown, { turnId, partId }: Place): string | undefined {
  const { activeTurn } = (state ?? {}) as Partial<ChatState>;
  if (activeTurn?.id !== turnId) return undefined;
  const part = findPart(activeTurn, partId);
  return part?.kind === 'markdown' || part?.kind === 'reasoning' ? part.content : undefined;
}
