/** A session that is far too large for one piece, straight in a log, and clients that see the parts of its snapshot. */

import type { Log } from '@atrium/core/log/log.js';
import { WireFrame } from '@atrium/core/wire/frames.js';
import type { MessagePart } from '@atrium/core/wire/transport.js';
import type { SessionState, Turn } from '@atrium/protocol';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { sessionUp } from '@atrium/protocol/dialects';
import { onTestFinished } from 'vitest';
import { RawClient, type TestHost } from './test-host.js';

export const LARGE = 'ahp-session:/large';
/** The same session as sessions-v1 spells it. */
export const LARGE_V1 = 'mock:/large';

export interface LargeSession {
  readonly turns: number;
  readonly turnBytes: number;
  /** When each of its turns began; absent for turns of before there were such times. */
  readonly startedAt?: string;
}

/** Text as sessions have it: quotes, line breaks, and characters that are pairs of surrogates. */
export function largeTurn(index: number, bytes: number): Turn {
  const half = (text: string) => text.repeat(Math.ceil(bytes / 2 / Buffer.byteLength(JSON.stringify(text))));
  return {
    id: `t${index}`,
    userMessage: { text: `question ${index}` },
    responseParts: [
      { kind: 'markdown', id: `m${index}`, content: half(`Step ${index} … reads "one" token 🚀\n`) },
      {
        kind: 'toolCall',
        toolCall: {
          status: 'completed',
          toolCallId: `c${index}`,
          toolName: 'read_file',
          displayName: 'Read file',
          invocationMessage: 'Read parser.ts',
          confirmed: 'not-needed',
          success: true,
          pastTenseMessage: 'Read parser.ts',
          content: [{ type: 'text', text: half(`${index}: if (token.kind === "name") return;\n`) }],
        },
      },
    ],
    usage: { inputTokens: 1, outputTokens: 2 },
    state: 'complete',
  };
}

export function largeState({ turns, turnBytes }: LargeSession): SessionState {
  return {
    summary: { resource: LARGE, provider: 'mock', title: 'Large', status: 1, createdAt: 1, modifiedAt: 1 },
    lifecycle: 'ready',
    turns: Array.from({ length: turns }, (_, index) => largeTurn(index, turnBytes)),
    config: { schema: { type: 'object', properties: {} }, values: {} },
  };
}

/** Stores the session as if it had been worked in for weeks, and gives its state. Call it before the host starts. */
export async function storeLargeSession(log: Log, session: LargeSession): Promise<SessionState> {
  const state = largeState(session);
  const { session: stored, chat, summary } = sessionUp(state, defaultChatUri(LARGE));
  const { lifecycle } = stored;
  const times = session.startedAt !== undefined && { startedAt: session.startedAt, duration: 1 };
  const items = chat.turns.map((turn) => ({ id: turn.id, json: JSON.stringify({ ...turn, ...times }) }));
  await log.append({
    entries: [],
    archives: [
      { channel: LARGE, head: JSON.stringify(stored), turns: { start: 0, items: [] } },
      { channel: chat.resource, head: JSON.stringify({ ...chat, turns: [] }), turns: { start: 0, items } },
    ],
    records: [{ key: `session:${LARGE}`, value: JSON.stringify({ summary, lifecycle }) }],
    durability: 'full',
  });
  return state;
}

export interface SeenPart extends MessagePart {
  /** In which turn of the event loop it was sent. */
  readonly turn: number;
}

/** A client whose transport takes messages in parts. */
export class PartClient extends RawClient {
  readonly parts: SeenPart[] = [];
  /** Called with every part, before the client has taken it. */
  onPart: (part: SeenPart) => void = () => {};
  #text = '';

  constructor(turnNow: () => number = () => 0) {
    super();
    this.transport.sendPart = (part) => {
      const seen = { ...part, turn: turnNow() };
      this.parts.push(seen);
      this.onPart(seen);
      this.#text = part.isFirst ? part.text : this.#text + part.text;
      if (part.isLast) this.transport.send([new WireFrame(this.#text)]);
    };
  }

  static connected({ host }: TestHost, turnNow?: () => number): PartClient {
    const client = new PartClient(turnNow);
    host.connect(client.transport);
    return client;
  }
}

/** Counts the turns of the event loop until the test is over. */
export function turnCounter(): () => number {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  onTestFinished(() => clearImmediate(next));
  return () => turns;
}
