/**
 * Builds what clients with limited access see of states and actions. A share leaves out what its maker chose; names of
 * clients and devices are only for the owner. What is left out is never sent: projected states and actions are built
 * from the members named here, so a member that nobody thought of is left out, too.
 */
import {
  type ActiveTurn,
  ANSWERED_BY,
  type ChatAction,
  type ChatState,
  type ChatSummary,
  channelKind,
  findCall,
  type LeftOut,
  type Message,
  PRIVATE,
  privateMembersOf,
  type ResponsePart,
  type RootState,
  SELECTION_META_KEY,
  type SessionAction,
  type SessionState,
  type SessionSummary,
  type StateAction,
  type ToolCallResult,
  type ToolCallState,
  type ToolResultContent,
  type Turn,
  withImplied,
} from '@atrium/protocol/ahp-1';
import type { Access } from '../contracts/access.js';

/** Replaces the name of a folder that is left out. */
const NO_FOLDER = '…';

export interface ProjectionFacts {
  /** The folders, as paths and as URIs, whose names a share of these sessions leaves out. */
  foldersOf(sessions: readonly string[]): readonly string[];
  /** True when a terminal is within the bounds. */
  seesTerminal(access: Access, terminal: string): boolean;
}

/** A key that is equal for two accesses that get exactly the same. */
export function projectionKey({ leftOut, bounds, credential, role }: Access): string {
  const isShare = credential.kind === 'share';
  return JSON.stringify([role === 'owner', isShare, leftOut && [...leftOut].sort(), bounds]);
}

export class Projection {
  readonly key: string;
  readonly #access: Access;
  readonly #facts: ProjectionFacts;
  readonly #leftOut: ReadonlySet<LeftOut>;
  /** True for a share: it shows conversations, but not how a session is set up. */
  readonly #isShare: boolean;
  /** States are immutable, so each is projected once. */
  readonly #made = new WeakMap<object, unknown>();

  constructor(access: Access, facts: ProjectionFacts) {
    this.key = projectionKey(access);
    this.#access = access;
    this.#facts = facts;
    this.#leftOut = new Set(withImplied(access.leftOut ?? []));
    this.#isShare = access.credential.kind === 'share' || this.#leftOut.size > 0;
  }

  /** Projects the state of a channel. */
  state(channel: string, state: unknown): unknown {
    if (typeof state !== 'object' || state === null) return state;
    return this.#once(state, () => {
      const kind = channelKind(channel);
      if (kind === 'root') return this.#root(state as RootState);
      if (kind === 'session') return this.#plain(this.#session(state as SessionState));
      if (kind === 'chat') return this.#chat(state as ChatState);
      return state;
    });
  }

  /** Projects an action; undefined when nothing of it is left. */
  action(channel: string, action: StateAction, after?: unknown): StateAction | undefined {
    const kind = channelKind(channel);
    if (kind === 'root') return this.#rootAction(action);
    if (kind === 'session') return this.#plain(this.#sessionAction(action as SessionAction)) as StateAction | undefined;
    if (kind === 'chat')
      return this.#plain(this.#chatAction(action as ChatAction, nameIn(after))) as StateAction | undefined;
    return action;
  }

  turn(turn: Turn): Turn {
    return this.#once(turn, () => this.#plain(this.#turn(turn))) as Turn;
  }

  summary<Summary extends Partial<SessionSummary>>(summary: Summary): Summary {
    if (!this.#isShare) return summary;
    const { resource, provider, title, status, createdAt, modifiedAt, defaultChat, changes } = summary;
    const kept = { resource, provider, title, status, createdAt, modifiedAt, defaultChat, changes };
    const meta = this.#meta(summary._meta);
    const chats = summary.chats?.filter(({ origin }) => !this.#hidesChat(origin));
    const folders = this.#has('folders') ? {} : pick(summary, ['workingDirectories', 'project']);
    return this.#plain(
      defined({ ...kept, ...folders, ...(meta && { _meta: meta }), ...(chats && { chats }) }),
    ) as unknown as Summary;
  }

  #has(what: LeftOut): boolean {
    return this.#leftOut.has(what);
  }

  #once(from: object, make: () => unknown): unknown {
    const known = this.#made.get(from);
    if (known !== undefined) return known;
    const made = make();
    this.#made.set(from, made);
    return made;
  }

  /** Removes folder names from all texts of a value, if folders are left out. */
  #plain<Value>(value: Value): Value {
    if (!this.#has('folders') || value === undefined) return value;
    const { bounds } = this.#access;
    const names = [...this.#facts.foldersOf(bounds?.sessions ?? [])].sort((a, b) => b.length - a.length);
    return names.length === 0 ? value : (withoutNames(value, names) as Value);
  }

  // The root: terminals within the bounds, but no settings of the host.

  #root({ config: _config, _meta: _notes, terminals, activeSessions, agents, ...rest }: RootState): RootState {
    if (this.#isShare) return { agents: [] };
    const isBounded = this.#access.bounds !== undefined;
    return {
      ...rest,
      agents,
      ...(terminals && { terminals: this.#terminals(terminals) }),
      ...(!isBounded && activeSessions !== undefined && { activeSessions }),
    };
  }

  #terminals(terminals: NonNullable<RootState['terminals']>) {
    return terminals.filter(({ resource }) => this.#facts.seesTerminal(this.#access, resource));
  }

  #rootAction(action: StateAction): StateAction | undefined {
    if (this.#isShare) return undefined;
    if (action.type === 'root/agentsChanged') return action;
    if (action.type === 'root/terminalsChanged') return { ...action, terminals: this.#terminals(action.terminals) };
    return action.type === 'root/activeSessionsChanged' && !this.#access.bounds ? action : undefined;
  }

  // Sessions.

  #session(state: SessionState): SessionState {
    if (!this.#isShare) return { ...state, activeClients: state.activeClients.map(withoutName) };
    const { provider, title, status, lifecycle, defaultChat, chats, changesets, activity } = state;
    const meta = this.#meta(state._meta);
    return defined({
      ...{ provider, title, status, lifecycle, defaultChat, activeClients: [] },
      ...(!this.#has('toolInput') && { activity }),
      ...(!this.#has('folders') && pick(state, ['workingDirectories', 'project'])),
      ...(this.#showsChanges && { changesets }),
      chats: chats.flatMap((chat) => this.#chatSummary(chat) ?? []),
      ...(meta && { _meta: meta }),
    }) as SessionState;
  }

  get #showsChanges(): boolean {
    return !this.#has('fileContents') && !this.#has('folders');
  }

  #meta(meta: SessionState['_meta']) {
    const selection = meta?.[SELECTION_META_KEY] as { model?: object } | undefined;
    return selection?.model ? { [SELECTION_META_KEY]: { model: selection.model } } : undefined;
  }

  /**
   * Hides a worker's chat if inputs or outputs are left out: its message is the input of a call, and its answer the
   * output.
   */
  #hidesChat(origin: ChatSummary['origin']): boolean {
    return origin?.kind === 'tool' && (this.#has('toolInput') || this.#has('toolOutput'));
  }

  #chatSummary(chat: ChatSummary): ChatSummary | undefined {
    if (this.#hidesChat(chat.origin)) return undefined;
    const { resource, title, status, modifiedAt, origin, interactivity, activity, changes } = chat;
    return defined({
      ...{ resource, title, status, modifiedAt, origin, interactivity, changes },
      ...(!this.#has('toolInput') && { activity }),
      ...(!this.#has('folders') && pick(chat, ['workingDirectories'])),
    }) as ChatSummary;
  }

  #sessionAction(action: SessionAction): SessionAction | undefined {
    if (!this.#isShare) {
      if (action.type !== 'session/activeClientSet') return action;
      const shown = privateMembersOf(action);
      const members = shown.activeClient && { [PRIVATE]: { ...shown, activeClient: withoutName(shown.activeClient) } };
      return { ...action, activeClient: withoutName(action.activeClient), ...members } as SessionAction;
    }
    switch (action.type) {
      case 'session/ready':
      case 'session/chatRemoved':
      case 'session/chatsReordered':
      case 'session/defaultChatChanged':
      case 'session/titleChanged':
      case 'session/isArchivedChanged':
        return action;
      case 'session/activityChanged':
        return this.#has('toolInput') ? undefined : action;
      case 'session/workingDirectorySet':
      case 'session/workingDirectoryRemoved':
      case 'session/workingDirectoryReplaced':
        return this.#has('folders') ? undefined : action;
      case 'session/changesetsChanged':
        return this.#showsChanges ? action : undefined;
      case 'session/chatAdded': {
        const summary = this.#chatSummary(action.summary);
        return summary && { ...action, summary };
      }
      case 'session/chatUpdated':
        return { type: action.type, chat: action.chat, changes: this.#chatChanges(action.changes) };
      case 'session/metaChanged': {
        const { selected } = privateMembersOf(action);
        const _meta = this.#meta(action._meta);
        return {
          ...defined({ type: action.type, _meta }),
          ...(selected && 'model' in selected && { [PRIVATE]: { selected } }),
        } as SessionAction;
      }
      default:
        return undefined;
    }
  }

  #chatChanges(changes: Extract<SessionAction, { type: 'session/chatUpdated' }>['changes']) {
    const kept = pick(changes, ['resource', 'title', 'status', 'modifiedAt', 'changes', 'interactivity']);
    return this.#has('toolInput') ? kept : { ...kept, ...pick(changes, ['activity']) };
  }

  // Chats.

  #chat(state: ChatState): ChatState {
    // `turns` may be a list that is read only while it is sent.
    const turns = state.turns.map((turn) => this.turn(turn));
    const activeTurn =
      state.activeTurn && (this.#once(state.activeTurn, () => this.#activeTurn(state.activeTurn)) as ActiveTurn);
    if (!this.#isShare) return defined({ ...state, turns, activeTurn }) as ChatState;
    const { backgroundWork, changesets, queuedMessages, steeringMessage, turnsNextCursor } = state;
    const pending = (waiting: { id: string; message: Message }) => ({
      id: waiting.id,
      message: this.#message(waiting.message),
    });
    const rest = this.#plain({
      ...(this.#chatSummary(state) ?? { ...pick(state, ['resource', 'title', 'status', 'modifiedAt']) }),
      ...(!this.#has('toolInput') && backgroundWork && { backgroundWork }),
      ...(this.#showsChanges && changesets && { changesets }),
      ...(queuedMessages && { queuedMessages: queuedMessages.map(pending) }),
      ...(steeringMessage && { steeringMessage: pending(steeringMessage) }),
    });
    return defined({ ...rest, turns, turnsNextCursor, activeTurn }) as ChatState;
  }

  #activeTurn(turn: ActiveTurn | undefined): ActiveTurn | undefined {
    if (!turn) return undefined;
    const { id, startedAt, usage } = turn;
    const parts = turn.responseParts.flatMap((part) => this.#once(part, () => this.#plain(this.#part(part))) ?? []);
    return defined({
      id,
      startedAt,
      usage,
      message: this.#plain(this.#message(turn.message)),
      responseParts: parts,
    }) as ActiveTurn;
  }

  #turn(turn: Turn): Turn {
    const { id, startedAt, duration, usage, state } = turn;
    const responseParts = turn.responseParts.flatMap((part) => this.#part(part) ?? []);
    return defined({
      id,
      startedAt,
      duration,
      usage,
      state,
      message: this.#message(turn.message),
      responseParts,
    }) as Turn;
  }

  #message(message: Message): Message {
    if (!this.#isShare) return message;
    const { text, origin, model, attachments } = message;
    const kept = this.#has('attachments')
      ? undefined
      : attachments?.filter((attached) => this.#showsAttachment(attached));
    return defined({ text, origin, model, attachments: kept }) as Message;
  }

  /** Hides files and transcripts of other chats, whose URIs say where they are. */
  #showsAttachment(attached: object): boolean {
    const { type, uri = '' } = attached as { type?: string; uri?: unknown };
    if (type === 'chat' || type === 'annotations') return false;
    return !String(uri).startsWith('file:') || this.#showsChanges;
  }

  #part(part: ResponsePart): ResponsePart | undefined {
    if (part.kind === 'toolCall') return { kind: 'toolCall', toolCall: this.#call(part.toolCall) };
    if (!this.#isShare) return part;
    switch (part.kind) {
      case 'markdown':
        return part;
      case 'reasoning':
        return this.#has('reasoning') ? ({ ...pick(part, ['kind', 'id']), content: '' } as ResponsePart) : part;
      case 'inputRequest':
        return part;
      case 'error': {
        const isPlain = this.#has('folders') || this.#has('toolOutput');
        return isPlain
          ? ({ ...part, error: { ...pick(part.error, ['errorType']), message: 'The turn failed.' } } as ResponsePart)
          : part;
      }
      case 'contentRef':
        return this.#has('attachments') || this.#has('fileContents') ? undefined : part;
      case 'systemNotification':
        return this.#leftOut.size > 0 ? undefined : part;
      default:
        return undefined;
    }
  }

  // Tool calls.

  #call(call: ToolCallState): ToolCallState {
    if (!this.#isShare) return withoutAnswerer(call);
    const { status, toolCallId, toolName, displayName } = call;
    const members = call as unknown as Record<string, unknown>;
    const base = { status: status === 'auth-required' ? 'running' : status, toolCallId, toolName, displayName };
    const confirmed = pick(members, ['confirmed', 'reason', 'success']);
    const input = this.#has('toolInput')
      ? { invocationMessage: displayName }
      : pick(members, ['invocationMessage', 'toolInput', 'partialInput', 'intention']);
    // A path may be cut between two pieces of an input, and then its name is not found. The complete input follows when
    // it is ready.
    const isInPieces = 'partialInput' in input && this.#has('folders');
    return defined({
      ...base,
      ...confirmed,
      ...input,
      ...(isInPieces && { partialInput: '' }),
      ...this.#output(members, displayName),
    }) as unknown as ToolCallState;
  }

  /** The output of a call. The sentence about the call names its input, too, so it needs both to be visible. */
  #output(members: Readonly<Record<string, unknown>>, displayName: string): object {
    const { pastTenseMessage, content, error } = members;
    const keepsCalls = !this.#has('toolInput') && !this.#has('toolOutput');
    const sentence =
      pastTenseMessage === undefined ? {} : { pastTenseMessage: keepsCalls ? pastTenseMessage : displayName };
    if (this.#has('toolOutput'))
      return { ...sentence, ...(error !== undefined && { error: { message: 'The tool failed.' } }) };
    const shown = Array.isArray(content) ? this.#contents(content as ToolResultContent[], displayName) : undefined;
    return { ...sentence, content: shown, ...pick(members, ['structuredContent', 'error']) };
  }

  #contents(content: readonly ToolResultContent[], displayName: string): ToolResultContent[] {
    return content.flatMap((item) => {
      if (item.type === 'fileEdit') return this.#showsChanges ? item : [];
      // A terminal's title is the command that runs in it.
      if (item.type === 'terminal' && this.#has('toolInput')) return { ...item, title: displayName };
      return item.type === 'subagent' && this.#has('toolInput') ? [] : item;
    });
  }

  #chatAction(action: ChatAction, nameOf: CallName): ChatAction | undefined {
    if (!this.#isShare) return withoutNameIn(action);
    switch (action.type) {
      case 'chat/turnStarted':
        return {
          ...pick(action, ['type', 'turnId', 'startedAt', 'queuedMessageId']),
          message: this.#message(action.message),
        } as ChatAction;
      case 'chat/pendingMessageSet':
        return { ...pick(action, ['type', 'kind', 'id']), message: this.#message(action.message) } as ChatAction;
      case 'chat/delta':
      case 'chat/turnComplete':
      case 'chat/turnCancelled':
      case 'chat/turnResume':
      case 'chat/usage':
      case 'chat/pendingMessageRemoved':
      case 'chat/queuedMessagesReordered':
      case 'chat/inputRequested':
      case 'chat/inputAnswerChanged':
      case 'chat/inputCompleted':
      case 'chat/truncated':
      case 'chat/isArchivedChanged':
        return action;
      case 'chat/reasoning':
        return this.#has('reasoning') ? undefined : action;
      case 'chat/responsePart': {
        const part = this.#part(action.part);
        return part && ({ ...pick(action, ['type', 'turnId']), part } as ChatAction);
      }
      case 'chat/error':
        return { ...action, part: this.#part(action.part) } as ChatAction;
      case 'chat/activityChanged':
      case 'chat/backgroundWorkSet':
      case 'chat/backgroundWorkRemoved':
        return this.#has('toolInput') ? undefined : action;
      case 'chat/workingDirectorySet':
      case 'chat/workingDirectoryRemoved':
        return this.#has('folders') ? undefined : action;
      case 'chat/changesetsChanged':
        return this.#showsChanges ? action : undefined;
      case 'chat/turnsLoaded': {
        const { restored } = privateMembersOf(action);
        const turns = action.turns.map((turn) => this.turn(turn));
        return {
          ...pick(action, ['type', 'turnsNextCursor']),
          turns,
          ...(restored && { [PRIVATE]: { restored } }),
        } as ChatAction;
      }
      default:
        return this.#callAction(action, nameOf);
    }
  }

  #callAction(action: ChatAction, nameOf: CallName): ChatAction | undefined {
    const members = action as unknown as Record<string, unknown>;
    const target = pick(members, ['type', 'turnId', 'toolCallId']);
    switch (action.type) {
      case 'chat/toolCallStart':
        return { ...target, ...pick(members, ['toolName', 'displayName']) } as ChatAction;
      case 'chat/toolCallDelta':
        if (this.#has('toolInput')) return undefined;
        return {
          ...target,
          ...pick(members, ['content', 'invocationMessage']),
          ...(this.#has('folders') && { content: '' }),
        } as ChatAction;
      case 'chat/toolCallReady': {
        const { pending } = privateMembersOf(action);
        const input = this.#has('toolInput')
          ? { invocationMessage: nameOf(action) }
          : pick(members, ['invocationMessage', 'toolInput', 'intention']);
        return {
          ...target,
          ...input,
          ...pick(members, ['confirmed']),
          ...(pending && { [PRIVATE]: { pending } }),
        } as ChatAction;
      }
      case 'chat/toolCallConfirmed': {
        const edited = this.#has('toolInput') ? {} : pick(members, ['editedToolInput']);
        return { ...target, ...pick(members, ['approved', 'confirmed', 'reason']), ...edited } as ChatAction;
      }
      case 'chat/toolCallComplete': {
        const { success } = action.result;
        const result = defined({
          success,
          ...this.#output(action.result as unknown as Record<string, unknown>, nameOf(action)),
        });
        return {
          ...target,
          ...pick(members, ['requiresResultConfirmation']),
          result: result as ToolCallResult,
        } as ChatAction;
      }
      case 'chat/toolCallResultConfirmed':
        return { ...target, ...pick(members, ['approved']) } as ChatAction;
      case 'chat/toolCallContentChanged':
        return this.#has('toolOutput')
          ? undefined
          : ({ ...target, content: this.#contents(action.content, nameOf(action)) } as ChatAction);
      default:
        return undefined;
    }
  }
}

/** The display name of the tool that an action is about. */
type CallName = (action: ChatAction) => string;

function nameIn(after: unknown): CallName {
  return (action) => {
    const { activeTurn } = (after ?? {}) as Partial<ChatState>;
    const { turnId, toolCallId } = action as { turnId?: string; toolCallId?: string };
    if (!activeTurn || activeTurn.id !== turnId || toolCallId === undefined) return 'Tool';
    return findCall(activeTurn, toolCallId)?.displayName ?? 'Tool';
  };
}

function pick(from: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (name in from ? [[name, (from as Record<string, unknown>)[name]]] : [])),
  );
}

function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function withoutName<Client extends { displayName?: string }>({ displayName: _name, ...client }: Client) {
  return client as Client;
}

function withoutAnswerer<Holder extends { _meta?: Record<string, unknown> | undefined }>(holder: Holder): Holder {
  if (!holder._meta || !(ANSWERED_BY in holder._meta)) return holder;
  const { [ANSWERED_BY]: _name, ...meta } = holder._meta;
  return { ...holder, _meta: meta };
}

function withoutNameIn(action: ChatAction): ChatAction {
  return '_meta' in action ? (withoutAnswerer(action as { _meta?: Record<string, unknown> }) as ChatAction) : action;
}

/** Replaces these names in all texts of a value. */
function withoutNames(value: unknown, names: readonly string[]): unknown {
  if (typeof value === 'string') return names.reduce((text, name) => text.replaceAll(name, NO_FOLDER), value);
  if (Array.isArray(value)) return value.map((item) => withoutNames(item, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutNames(item, names)]));
}
