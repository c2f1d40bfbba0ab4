/** The state of a channel and the reducer that changes it, by kind of channel. */
import {
  type ChangesetAction,
  type ChangesetState,
  type ChannelKind,
  changesetReducer,
  type Reducer,
  type ResourceWatchAction,
  type ResourceWatchState,
  type RootAction,
  type RootState,
  resourceWatchReducer,
  rootReducer,
  type SessionAction,
  type SessionState,
  type StateAction,
  sessionReducer,
  type TerminalAction,
  type TerminalContentPart,
  type TerminalState,
  terminalReducer,
  type UnknownAction,
} from '@atrium/protocol';

interface ChannelTypes {
  root: { state: RootState; action: RootAction };
  session: { state: SessionState; action: SessionAction };
  terminal: { state: TerminalState; action: TerminalAction };
  changeset: { state: ChangesetState; action: ChangesetAction };
  resourceWatch: { state: ResourceWatchState; action: ResourceWatchAction };
  otlp: { state: undefined; action: never };
}

export type StateOf<K extends ChannelKind> = ChannelTypes[K]['state'];
export type ActionOf<K extends ChannelKind> = ChannelTypes[K]['action'];
export type StatefulKind = Exclude<ChannelKind, 'otlp'>;
/** The state of some channel. */
export type ChannelState = StateOf<StatefulKind>;

/** The kind that the text of a URI tells. A plain `string` is taken for a session, which most channels are. */
export type KindOf<U extends string> = U extends 'ahp-root://'
  ? 'root'
  : U extends `ahp-terminal:${string}`
    ? 'terminal'
    : U extends `ahp-changeset:${string}`
      ? 'changeset'
      : U extends `ahp-resource-watch:${string}`
        ? 'resourceWatch'
        : U extends `ahp-otlp:${string}`
          ? 'otlp'
          : 'session';

const REDUCERS = {
  root: rootReducer,
  session: sessionReducer,
  terminal: terminalReducer,
  changeset: changesetReducer,
  resourceWatch: resourceWatchReducer,
} as const;

export function isStateful(kind: ChannelKind): kind is StatefulKind {
  return kind !== 'otlp';
}

/** Actions of other kinds, and unknown ones, change nothing. */
export function reduce(kind: StatefulKind, state: ChannelState, action: StateAction, now: number): ChannelState {
  const reducer = REDUCERS[kind] as Reducer<ChannelState, UnknownAction>;
  const next = reducer(state, action, { now });
  return action.type === 'terminal/data' ? boundedTerminal(next as TerminalState) : next;
}

/**
 * Whether a state is of the kind that its channel needs. Validation has shown that it is of some kind; a host that
 * mixes them up must not make a reducer stumble.
 */
export function isStateOf(kind: StatefulKind, state: object): state is ChannelState {
  return LOOKS_LIKE[kind](state as Readonly<Record<string, unknown>>);
}

const LOOKS_LIKE: { readonly [K in StatefulKind]: (state: Readonly<Record<string, unknown>>) => boolean } = {
  root: ({ agents }) => Array.isArray(agents),
  session: ({ turns, summary }) => Array.isArray(turns) && typeof summary === 'object',
  terminal: ({ content }) => Array.isArray(content),
  changeset: ({ files }) => Array.isArray(files),
  resourceWatch: ({ root }) => typeof root === 'string',
};

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
