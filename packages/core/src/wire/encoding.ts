/** What one channel did in one tick, in the words of one dialect: made once, sent to everyone who speaks it. */
import type { ActionOrigin } from '@atrium/protocol';
import type { ActionFrame, ChannelMemory, Dialect, DialectStep } from './dialects/dialects.js';
import { type Delta, type Outgoing, outgoing } from './frames.js';
import { MERGED_OUTPUT_MAX_CHARACTERS } from './limits.js';

/** One message with the number it has in the sequence, and whose echo it is. */
export interface NumberedMessage {
  readonly seq: number;
  readonly origin: ActionOrigin | undefined;
  readonly message: Outgoing;
}

export interface Encoded {
  readonly numbered: readonly NumberedMessage[];
  /** The same messages, as a list that can be sent as it is. */
  readonly messages: readonly Outgoing[];
  /** Why connections of this dialect must come back for a snapshot. */
  readonly close: string | undefined;
}

export function encode(dialect: Dialect, memory: ChannelMemory, steps: readonly DialectStep[]): Encoded {
  const { frames, close } = dialect.encodeSteps(memory, steps);
  return encodedOf(
    frames.map((frame) => numbered(dialect, frame)),
    close,
  );
}

export function encodedOf(list: readonly NumberedMessage[], close?: string | undefined): Encoded {
  return { numbered: list, messages: list.map(({ message }) => message), close };
}

function numbered(dialect: Dialect, { method, params, origin }: ActionFrame): NumberedMessage {
  const plain = { jsonrpc: '2.0', method, params };
  return { seq: envelopeIn(params).serverSeq, origin, message: outgoing(plain, deltaOf(dialect, plain)) };
}

/** The same action as if nobody had asked for it. */
export function withoutOrigin({ seq, message }: NumberedMessage): NumberedMessage {
  const { params, ...rest } = JSON.parse(message.text) as { params: object };
  const { origin: _origin, ...envelope } = envelopeIn(params) as Envelope & { origin?: ActionOrigin };
  return { seq, origin: undefined, message: outgoing({ ...rest, params: around(params, envelope) }) };
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

/** An older wire wraps the envelope once more, or sends it in both forms. */
function envelopeIn(params: object): Envelope {
  return 'envelope' in params ? (params.envelope as Envelope) : (params as Envelope);
}

/** Another envelope in the same form. */
function around(params: object, envelope: object): object {
  if (!('envelope' in params)) return envelope;
  return 'serverSeq' in params ? { ...envelope, envelope } : { envelope };
}

/** Which member of an action is text that goes on where the one before ended. */
const GROWING = new Map<string, 'content' | 'data'>([
  ['session/delta', 'content'],
  ['session/reasoning', 'content'],
  ['terminal/data', 'data'],
]);

/** What a text delta says, so that it can be merged with the next one. */
function deltaOf(dialect: Dialect, message: { readonly params: object }): Delta | undefined {
  const { params } = message;
  const envelope = envelopeIn(params);
  const { type, session, turnId, partId } = envelope.action;
  const member = GROWING.get(type);
  const content = member && envelope.action[member];
  if (member === undefined || typeof content !== 'string') return undefined;
  return {
    key: [dialect.traits.version, envelope.channel ?? session, type, turnId, partId].join(' '),
    content,
    ...(member === 'data' && { maxCharacters: MERGED_OUTPUT_MAX_CHARACTERS }),
    withContent: (text) => {
      const rebuilt = { ...envelope, action: { ...envelope.action, [member]: text } };
      return { ...message, params: around(params, rebuilt) };
    },
  };
}
