/**
 * A host of somebody else, written from what the protocol says and nothing more: no members of ours, no memory of the
 * numbers of its clients (whatever arrives is a new action), pages and replays of its own making. It speaks 1.0 and 0.9,
 * and can be told to forget its clients.
 */
import {
  type ActionEnvelope,
  type ActionOrigin,
  type ChatState,
  channelKind,
  isActionKnown,
  isClientDispatchable,
  isInCaretRange,
  reducers,
  type SessionState,
  type SessionSummary,
  type StateAction,
} from '@atrium/protocol/ahp-1';
import { checkAction, checkClientRequest, isClientRequest } from '@atrium/protocol/ahp-1/validation';
import type { Transport } from '../../src/index.js';
import { NOON } from './states.js';

type Params = Record<string, unknown> & { channel: string };
type State = Record<string, unknown>;

class Failure extends Error {
  constructor(
    readonly code: number,
    readonly data?: unknown,
  ) {
    super(`refused with ${code}`);
  }
}

interface Line {
  readonly transport: Transport;
  readonly subscribed: Set<string>;
  clientId: string;
  version: string;
}

export interface ForeignOptions {
  readonly versions: readonly string[];
  /** How many of the newest actions it can replay. */
  readonly replayMax?: number;
}

const SESSIONS_PER_PAGE = 2;
const TURNS_PER_PAGE = 3;

export class ForeignHost {
  readonly states = new Map<string, State>([['ahp-root://', { agents: [], activeSessions: 0 }]]);
  readonly log: ActionEnvelope[] = [];
  readonly heard: { readonly method: string; readonly params: Params }[] = [];
  /** The version that was agreed on with each client it still knows. */
  readonly known = new Map<string, string>();
  judge: (action: StateAction) => string | undefined = () => undefined;
  #seq = 0;
  #lines: Line[] = [];
  readonly #options: ForeignOptions;

  constructor(options: ForeignOptions) {
    this.#options = options;
  }

  accept(transport: Transport): void {
    const line: Line = { transport, subscribed: new Set(), clientId: '', version: '' };
    this.#lines.push(line);
    transport.onMessage((text) => this.#receive(line, JSON.parse(text)));
  }

  /** The clients are forgotten, as by a restart that keeps the sessions. */
  forget(): void {
    this.known.clear();
  }

  chat(uri: string): ChatState {
    return this.states.get(uri) as unknown as ChatState;
  }

  session(uri: string): SessionState {
    return this.states.get(uri) as unknown as SessionState;
  }

  act(channel: string, action: StateAction, origin?: ActionOrigin): void {
    const state = this.states.get(channel);
    if (!state) return;
    const reduce = reducers[channelKind(channel) as 'chat'] as unknown as (state: State, action: StateAction) => State;
    this.states.set(channel, reduce(state, action));
    this.#seq += 1;
    const envelope: ActionEnvelope = { channel, action, serverSeq: this.#seq, ...(origin && { origin }) };
    this.log.push(envelope);
    for (const line of this.#lines) {
      const isWatched = line.subscribed.has(channel) || (origin !== undefined && line.clientId === origin.clientId);
      if (isWatched && isActionKnown(action.type, line.version)) this.#tell(line, 'action', envelope);
    }
  }

  /** An action that no client of today knows. */
  strange(channel: string, action: Readonly<Record<string, unknown>>): void {
    this.#seq += 1;
    const envelope = { channel, action, serverSeq: this.#seq };
    for (const line of this.#lines) if (line.subscribed.has(channel)) this.#tell(line, 'action', envelope);
  }

  /** An agent that says the message back, word by word. */
  answer(chat: string): void {
    const { activeTurn } = this.chat(chat);
    if (!activeTurn) return;
    const { id: turnId, message } = activeTurn;
    const part = { kind: 'markdown', id: `${turnId}-p`, content: '' } as const;
    this.act(chat, { type: 'chat/responsePart', turnId, part });
    for (const word of message.text.split(' '))
      this.act(chat, { type: 'chat/delta', turnId, partId: part.id, content: `${word} ` });
    this.act(chat, { type: 'chat/turnComplete', turnId, duration: 1 });
  }

  #receive(line: Line, { id, method, params }: { id?: number; method: string; params: Params }): void {
    this.heard.push({ method, params });
    if (method === 'unsubscribe') line.subscribed.delete(params.channel);
    if (method === 'dispatchAction') this.#dispatched(line, params);
    if (id === undefined) return;
    try {
      const result = this.#answer(line, method, params);
      line.transport.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { code, message, data } = error;
      line.transport.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } }));
      if (code === -32005) line.transport.close();
    }
  }

  /** Whatever arrives is an action: a client that sends one twice gets it twice. */
  #dispatched(line: Line, { channel, clientSeq, action }: Params): void {
    if (!this.states.has(channel)) return;
    const origin = { clientId: line.clientId, clientSeq: clientSeq as number };
    const checked = checkAction(action);
    const may =
      checked.ok && isClientDispatchable(checked.value.type) && isActionKnown(checked.value.type, line.version);
    const rejectionReason = checked.ok && may ? this.judge(checked.value) : 'not an action of clients';
    if (checked.ok && rejectionReason === undefined) this.act(channel, checked.value, origin);
    else this.#tell(line, 'action', { channel, action, serverSeq: ++this.#seq, origin, rejectionReason });
  }

  #answer(line: Line, method: string, params: Params): unknown {
    if (!isClientRequest(method)) throw new Failure(-32601);
    if (!checkClientRequest(method, params).ok) throw new Failure(-32602);
    const handler = this.#handlers[method];
    if (!handler) throw new Failure(-32601);
    return handler(line, params);
  }

  readonly #handlers: Readonly<Record<string, (line: Line, params: Params) => unknown>> = {
    ping: () => null,
    initialize: (line, params) => {
      const version = this.#agreed(params.protocolVersions as string[]);
      Object.assign(line, { clientId: params.clientId, version });
      this.known.set(line.clientId, version);
      const uris = (params.initialSubscriptions ?? []) as string[];
      const serverInfo = { name: 'somebody-else' };
      return { protocolVersion: version, serverInfo, serverSeq: this.#seq, snapshots: this.#snapshots(line, uris) };
    },
    reconnect: (line, params) => {
      const version = this.known.get(params.clientId as string);
      if (version === undefined) throw new Failure(-32008);
      Object.assign(line, { clientId: params.clientId, version });
      const uris = params.subscriptions as string[];
      const missed = this.log.filter(({ serverSeq }) => serverSeq > (params.lastSeenServerSeq as number));
      const snapshots = this.#snapshots(line, uris);
      if (missed.length > (this.#options.replayMax ?? 1_000)) return { type: 'snapshot', snapshots };
      const actions = missed.filter(
        ({ channel, action }) => uris.includes(channel) && isActionKnown(action.type, version),
      );
      return { type: 'replay', actions, missing: uris.filter((uri) => !this.states.has(uri)) };
    },
    subscribe: (line, params) => {
      const [snapshot] = this.#snapshots(
        line,
        [params.channel],
        (params.view as { turns?: number } | undefined)?.turns,
      );
      if (!snapshot) throw new Failure(-32008);
      return { snapshot };
    },
    listSessions: (_line, { cursor }) => {
      const start = Number(cursor ?? 0);
      const items = [...this.states.keys()]
        .filter((uri) => channelKind(uri) === 'session')
        .map((uri) => this.#summary(uri));
      const end = start + SESSIONS_PER_PAGE;
      return { items: items.slice(start, end), ...(end < items.length && { nextCursor: String(end) }) };
    },
    createSession: (_line, { channel, workingDirectories }) => {
      const chat = `ahp-chat:/of-${channel.slice('ahp-session:/'.length)}`;
      this.#addChat(chat);
      const { title, status, modifiedAt } = this.chat(chat);
      const chats = [{ resource: chat, title, status, modifiedAt }];
      const base = { provider: 'echo', title: '', status: 1, lifecycle: 'ready', activeClients: [] };
      this.states.set(channel, { ...base, chats, defaultChat: chat, workingDirectories });
      this.#announce('root/sessionAdded', { summary: this.#summary(channel) });
      return null;
    },
    disposeSession: (_line, { channel }) => {
      for (const { resource } of this.session(channel).chats) this.states.delete(resource);
      this.states.delete(channel);
      this.#announce('root/sessionRemoved', { session: channel });
      return null;
    },
    createChat: (_line, { channel, chat }) => {
      this.#addChat(chat as string);
      const { resource, title, status, modifiedAt } = this.chat(chat as string);
      this.act(channel, { type: 'session/chatAdded', summary: { resource, title, status, modifiedAt } });
      return null;
    },
    disposeChat: (_line, { channel }) => {
      this.states.delete(channel);
      const owner = [...this.states.keys()].find(
        (uri) => channelKind(uri) === 'session' && this.session(uri).chats.some(({ resource }) => resource === channel),
      );
      if (owner) this.act(owner, { type: 'session/chatRemoved', chat: channel });
      return null;
    },
    fetchTurns: (line, { channel, cursor }) => {
      const all = this.chat(channel).turns;
      const end = all.findIndex(({ id }) => id === cursor);
      if (end < 0) throw new Failure(-32602);
      const start = Math.max(0, end - TURNS_PER_PAGE);
      const next = start > 0 ? { turnsNextCursor: all[start]?.id } : {};
      const action = { type: 'chat/turnsLoaded', turns: all.slice(start, end), ...next };
      this.#tell(line, 'action', { channel, serverSeq: ++this.#seq, action });
      return {};
    },
  };

  #agreed(offered: readonly string[]): string {
    const { versions } = this.#options;
    const fit = offered.filter((version) => versions.some((baseline) => isInCaretRange(version, baseline)));
    const [highest] = fit.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    if (!highest) throw new Failure(-32005, { supportedVersions: versions });
    return highest;
  }

  #addChat(resource: string): void {
    this.states.set(resource, { resource, title: '', status: 1, modifiedAt: NOON, turns: [] });
  }

  #summary(resource: string): SessionSummary {
    const { provider, title, status } = this.session(resource);
    return { resource, provider, title, status, createdAt: NOON, modifiedAt: NOON };
  }

  /** Its cursor is the id of the oldest turn that a client has. */
  #snapshots(line: Line, uris: readonly string[], last?: number) {
    for (const uri of uris) if (this.states.has(uri)) line.subscribed.add(uri);
    return uris.flatMap((resource) => {
      const state = this.states.get(resource);
      if (!state) return [];
      const turns = channelKind(resource) === 'chat' ? this.chat(resource).turns : [];
      if (last === undefined || turns.length <= last) return [{ resource, state, fromSeq: this.#seq }];
      const kept = turns.slice(turns.length - last);
      return [{ resource, state: { ...state, turns: kept, turnsNextCursor: kept[0]?.id }, fromSeq: this.#seq }];
    });
  }

  #announce(method: string, params: object): void {
    for (const line of this.#lines)
      if (line.subscribed.has('ahp-root://')) this.#tell(line, method, { channel: 'ahp-root://', ...params });
  }

  #tell({ transport }: Line, method: string, params: object): void {
    transport.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }
}
