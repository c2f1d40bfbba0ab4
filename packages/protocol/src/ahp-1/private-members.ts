/**
 * What the host adds to 1.0 actions so that it can serve older wires without states, for example when a restarted host
 * replays its log. All of it is under one private name. Dialects of upstream versions remove that name from what they
 * send, and from what their clients send. The functions here compute the members when an action is written.
 */
import { findCall } from '../parts.js';
import type * as Ahp1 from './index.js';
import { type SessionSelection, selectionOf, withSelection } from './session/selection.js';

export const PRIVATE = 'x-atrium';

/** The action with which clients of older wires choose a model or an agent for the whole session. */
export const SELECTION_CHANGED = 'x-atrium/selectionChanged';

/** Dispatched by a client of an older wire; the session writes it as `session/metaChanged`. `null` clears the agent. */
export interface SelectionChangedAction {
  readonly type: typeof SELECTION_CHANGED;
  readonly model?: Ahp1.ModelSelection;
  readonly agent?: Ahp1.AgentSelection | null;
}

/** The private members of an action. Its type determines which it has. */
export interface PrivateMembers {
  /** `session/metaChanged`: the changed part of the selection, when nothing else in the metadata changed. */
  readonly selected?: { readonly model: Ahp1.ModelSelection } | { readonly agent: Ahp1.AgentSelection | null };
  /**
   * `session/activeClientSet` and `…Removed`: the client that older wires now show; absent when that did not change.
   */
  readonly activeClient?: Ahp1.SessionActiveClient | null;
  /** `session/activeClientSet`: only the tools changed of the client that older wires show. */
  readonly onlyTools?: boolean;
  /** `session/workingDirectory…`: the new first directory. */
  readonly primary?: string | null;
  /** `session/inputNeededSet` and `…Removed`: older wires know it from the preceding chat action, and get nothing. */
  readonly shown?: boolean;
  /** `session/mcpServer…`: the entry with the server, after the action. Older wires show entries as a whole. */
  readonly entry?: Ahp1.Customization;
  /**
   * `chat/toolCallReady`: the call was already waiting for a confirmation. Says whether older wires now show it
   * differently. `edited`: the next action approves it with this input, and older wires learn the input from that
   * action.
   */
  readonly pending?: 'unchanged' | 'changed' | 'edited';
  /** `chat/turnsLoaded`: these turns were cut off before and are restored. Older wires cannot express that. */
  readonly restored?: true;
}

export interface WithPrivateMembers {
  readonly [PRIVATE]?: PrivateMembers;
}

export function privateMembersOf(action: object): PrivateMembers {
  return (action as WithPrivateMembers)[PRIVATE] ?? {};
}

/** The action that changes the selection of a session. */
export function selectionAction(
  { _meta }: Pick<Ahp1.SessionState, '_meta'>,
  { model, agent }: SelectionChangedAction,
): Ahp1.SessionMetaChangedAction & WithPrivateMembers {
  const current = selectionOf(_meta);
  const next: SessionSelection = model ? { ...current, model } : { ...current, agent: agent ?? undefined };
  return {
    type: 'session/metaChanged',
    _meta: withSelection(_meta, next),
    [PRIVATE]: { selected: model ? { model } : { agent: agent ?? null } },
  };
}

/** The client shown by wires with one active client: the one that joined last. */
export function shownClient({ activeClients }: Ahp1.SessionState): Ahp1.SessionActiveClient | undefined {
  return activeClients.at(-1);
}

type ActiveClientAction = Ahp1.SessionActiveClientSetAction | Ahp1.SessionActiveClientRemovedAction;

/**
 * The action with what older wires show after it. Actions of clients of older wires are marked: such a client must get
 * an answer even if what it sees does not change, and `onlyTools` says which of two actions it sent.
 */
export function withShownClient<Action extends ActiveClientAction & WithPrivateMembers>(
  action: Action,
  before: Ahp1.SessionState,
  after: Ahp1.SessionState,
): Action {
  const { [PRIVATE]: mark, ...plain } = action;
  const was = shownClient(before);
  const is = shownClient(after);
  if (!mark && isSame(was, is)) return plain as Action;
  const isAlike = was !== undefined && is !== undefined && isSame({ ...was, tools: [] }, { ...is, tools: [] });
  const onlyTools = isAlike && (mark?.onlyTools ?? !mark);
  return { ...action, [PRIVATE]: { activeClient: is ?? null, ...(onlyTools && { onlyTools }) } };
}

type WorkingDirectoryAction =
  | Ahp1.SessionWorkingDirectorySetAction
  | Ahp1.SessionWorkingDirectoryRemovedAction
  | Ahp1.SessionWorkingDirectoryReplacedAction;

/** The action, marked when it changes the directory that wires with a single one show. */
export function withPrimaryDirectory<Action extends WorkingDirectoryAction>(
  action: Action,
  before: Ahp1.SessionState,
  after: Ahp1.SessionState,
): Action & WithPrivateMembers {
  const primary = after.workingDirectories?.[0];
  return primary === before.workingDirectories?.[0] ? action : { ...action, [PRIVATE]: { primary: primary ?? null } };
}

type McpServerAction =
  | Ahp1.SessionMcpServerStateChangedAction
  | Ahp1.SessionMcpServerStartRequestedAction
  | Ahp1.SessionMcpServerStopRequestedAction
  | Ahp1.SessionMcpServerBackgroundRequestedAction;

export function isMcpServerAction(action: { readonly type: string }): action is McpServerAction {
  return action.type.startsWith('session/mcpServer');
}

/** The action with the entry that it changes, or in which it changes a child. */
export function withServerEntry(
  action: McpServerAction,
  { customizations = [] }: Ahp1.SessionState,
): McpServerAction & WithPrivateMembers {
  const has = (entry: Ahp1.Customization) =>
    'children' in entry && entry.children?.some((child) => child.id === action.id);
  const entry = customizations.find((each) => each.id === action.id || has(each));
  return entry ? { ...action, [PRIVATE]: { entry } } : action;
}

/** The action, marked when the call was already waiting for a person: older wires cannot ask twice. */
export function withPendingMark(
  action: Ahp1.ChatToolCallReadyAction,
  before: Ahp1.ChatState,
  after: Ahp1.ChatState,
): Ahp1.ChatToolCallReadyAction & WithPrivateMembers {
  const was = callIn(before, action);
  const is = callIn(after, action);
  if (was?.status !== 'pending-confirmation' || !is) return action;
  const isUnchanged = is.status === 'running' ? isSame(was.toolInput, is.toolInput) : isSame(asked(was), asked(is));
  return { ...action, [PRIVATE]: { pending: isUnchanged ? 'unchanged' : 'changed' } };
}

function callIn({ activeTurn }: Ahp1.ChatState, { turnId, toolCallId }: Ahp1.ChatToolCallReadyAction) {
  return activeTurn?.id === turnId ? findCall(activeTurn, toolCallId) : undefined;
}

/** A waiting call without the members that older wires do not show. */
function asked(call: Ahp1.ToolCallState): object {
  const { riskAssessment, intention, contributor, _meta, ...shown } = call as Ahp1.ToolCallPendingConfirmationState;
  return shown;
}

/** Compares JSON that the host made or checked; the same code wrote it, so the order of members is the same. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

// Questions outside of turns. 1.0 has questions only in turns, so the host lists these as `inputNeeded`.

const STANDING = 'standing:';

/** The entry of `inputNeeded` for a question that belongs to no turn. */
export function standingEntry(chat: string, request: Ahp1.ChatInputRequest): Ahp1.SessionChatInputRequest {
  return { kind: 'chatInput', id: `${STANDING}${request.id}`, chat, request };
}

/** The id of the request in the id of such an entry; undefined for other entries. */
export function standingRequestId(id: string): string | undefined {
  return id.startsWith(STANDING) ? id.slice(STANDING.length) : undefined;
}

export function isStanding(entry: Ahp1.SessionInputRequest): entry is Ahp1.SessionChatInputRequest {
  return entry.kind === 'chatInput' && entry.id.startsWith(STANDING);
}
