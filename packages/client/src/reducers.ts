/** How actions change the states of channels. */
import {
  type ActionEnvelope,
  type ChatState,
  reducers,
  type StateAction,
  type TerminalContentPart,
  type TerminalState,
} from '@atrium/protocol/ahp-1';
import type { ChannelState, StatefulKind } from './kinds.js';

type Reduce = (state: ChannelState, action: StateAction) => ChannelState;

/** Actions of other kinds, and unknown ones, change nothing. */
export function reduce(kind: StatefulKind, state: ChannelState, action: ActionEnvelope['action']): ChannelState {
  const next = (reducers[kind] as unknown as Reduce)(state, action as StateAction);
  return action.type === 'terminal/data' ? boundedTerminal(next as TerminalState) : next;
}

/**
 * Whether a state is of the kind that its channel needs. Validation has shown that it is of some kind; a host that
 * mixes them up must not make a reducer stumble.
 */
export function isStateOf(kind: StatefulKind, state: object): state is ChannelState {
  return HAS_SHAPE[kind](state as Readonly<Record<string, unknown>>);
}

const HAS_SHAPE: { readonly [K in StatefulKind]: (state: Readonly<Record<string, unknown>>) => boolean } = {
  root: ({ agents }) => Array.isArray(agents),
  session: ({ chats, activeClients }) => Array.isArray(chats) && Array.isArray(activeClients),
  chat: ({ turns, resource }) => Array.isArray(turns) && typeof resource === 'string',
  terminal: ({ content }) => Array.isArray(content),
  changeset: ({ files }) => Array.isArray(files),
  annotations: ({ annotations }) => Array.isArray(annotations),
  automation: ({ entries }) => Array.isArray(entries),
  automationRun: ({ lifecycle, sessions }) => typeof lifecycle === 'object' && Array.isArray(sessions),
  canvas: ({ canvasId }) => typeof canvasId === 'string',
  resourceWatch: ({ root }) => typeof root === 'string',
};

/** A chat's state; undefined for a channel of another kind. */
export function asChat(kind: string, state: ChannelState | undefined): ChatState | undefined {
  return kind === 'chat' ? (state as ChatState | undefined) : undefined;
}

/** A terminal's mirror drops its oldest output beyond this, as the host does … */
export const TERMINAL_MAX_CHARACTERS = 4 * 2 ** 20;
/** … down to this, so that it does not cut with every chunk. */
export const TERMINAL_KEPT_CHARACTERS = 3 * 2 ** 20;
export const TERMINAL_MAX_PARTS = 20_000;

function boundedTerminal(state: TerminalState): TerminalState {
  const { content } = state;
  const size = content.reduce((sum, part) => sum + textOf(part).length, 0);
  if (size <= TERMINAL_MAX_CHARACTERS && content.length <= TERMINAL_MAX_PARTS) return state;
  return { ...state, content: newest(content.slice(-TERMINAL_MAX_PARTS)) };
}

/** The newest parts; the oldest of them loses its beginning, at the end of a line where there is one. */
function newest(content: readonly TerminalContentPart[]): TerminalContentPart[] {
  const kept: TerminalContentPart[] = [];
  let room = TERMINAL_KEPT_CHARACTERS;
  for (const part of [...content].reverse()) {
    if (room <= 0) break;
    const text = textOf(part);
    kept.push(text.length <= room ? part : withText(part, fromNextLine(text, text.length - room)));
    room -= text.length;
  }
  return kept.reverse();
}

function fromNextLine(text: string, start: number): string {
  const line = text.indexOf('\n', start);
  return text.slice(line < 0 ? start : line + 1);
}

function textOf(part: TerminalContentPart): string {
  if (part.type === 'unclassified') return part.value;
  return part.type === 'command' ? part.output : '';
}

function withText(part: TerminalContentPart, text: string): TerminalContentPart {
  return part.type === 'command' ? { ...part, output: text } : { ...part, value: text };
}
