/** States as 0.3.0 shows them: a session with its default chat as one session, the root, terminals, changesets. */
import type * as Ahp1 from '../../ahp-1/index.js';
import { isStanding, PRIVATE, shownClient } from '../../ahp-1/private-members.js';
import { SELECTION_META_KEY, selectionOf } from '../../ahp-1/session/selection.js';
import type * as Ahp03 from '../../index.js';
import { ACTIVITY_MASK, SessionStatus } from '../../session/status.js';
import { activeTurnDown, cached, hasPendingCall, openRequests, pendingDown, turnsDown } from './turns.js';

// Customizations and clients

function isEnabled(enablement: readonly Ahp1.CustomizationEnablement[] | undefined): boolean {
  return enablement?.[0]?.enabled ?? true;
}

/** The outcome of a list of decisions, which is all that 0.3.0 knows. */
export const enabledDown = isEnabled;

/** A server. Our 0.3.0 hosts sent more than 0.3.0 defines: whether it is on, and its state. */
function serverDown(server: Ahp1.McpServerCustomization): Ahp03.ChildCustomization {
  const { enablement, state, channel, mcpApp, ...rest } = server;
  return { ...rest, enabled: isEnabled(enablement), state: serverStateDown(state) } as Ahp03.ChildCustomization;
}

function serverStateDown(state: Ahp1.McpServerState): object {
  if (state.kind === 'error') return { kind: 'error', message: state.error.message };
  if (state.kind === 'starting') return { kind: 'starting' };
  if (state.kind !== 'authRequired') return state;
  const { description, ...rest } = state;
  return { ...rest, ...(description !== undefined && { message: description }) };
}

function childDown(child: Ahp1.ChildCustomization): Ahp03.ChildCustomization {
  if (child.type === 'mcpServer') return serverDown(child);
  const { enabled, ...rest } = child;
  return rest as Ahp03.ChildCustomization;
}

function childrenDown(children: readonly Ahp1.ChildCustomization[] | undefined) {
  return children && { children: children.map(childDown) };
}

/** A customization. 0.3.0 can switch only top-level entries. */
export const customizationDown = cached((entry: Ahp1.Customization): Ahp03.Customization => {
  if (entry.type === 'plugin') {
    const { enablement, children, ...rest } = entry;
    return { ...rest, enabled: isEnabled(enablement), ...childrenDown(children) };
  }
  if (entry.type === 'mcpServer') return serverDown(entry) as unknown as Ahp03.Customization;
  return { ...entry, ...childrenDown(entry.children) } as Ahp03.Customization;
});

export const activeClientDown = cached((client: Ahp1.SessionActiveClient): Ahp03.SessionActiveClient => {
  const { customizations, ...rest } = client;
  if (!customizations) return rest;
  return { ...rest, customizations: customizations.map(customizationDown) as Ahp03.ClientPluginCustomization[] };
});

// What lists show of a session

/** Options of a model are strings in 0.3.0. */
export function modelDown({ config, ...rest }: Ahp1.ModelSelection): Ahp03.ModelSelection {
  if (!config) return rest;
  return { ...rest, config: Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value)])) };
}

function selectionDown(meta: Ahp1.Meta | undefined): Pick<Ahp03.SessionSummary, 'model' | 'agent'> {
  const { model, agent } = selectionOf(meta);
  return { ...(model && { model: modelDown(model) }), ...(agent && { agent }) };
}

/** The metadata without the selection, for which 0.3.0 has members. Empty metadata becomes absent. */
export function metaDown(meta: Ahp1.Meta | undefined): Ahp03.Meta | undefined {
  const { [SELECTION_META_KEY]: _selection, ...rest } = meta ?? {};
  return Object.keys(rest).length > 0 ? rest : undefined;
}

export function changesetEntryDown({ changeKind, capabilities, ...rest }: Ahp1.Changeset): Ahp03.ChangesetSummary {
  return rest;
}

/** What the host keeps with a summary, for wires whose lists show more than those of 1.0. */
export interface SummaryExtras {
  readonly changesets?: readonly Ahp1.Changeset[] | null;
}

/** An entry of the catalogue. Dialects of upstream versions remove the private member. */
export type CatalogueSummary = Ahp1.SessionSummary & { readonly [PRIVATE]?: SummaryExtras };

export function summaryDown(summary: CatalogueSummary): Ahp03.SessionSummary {
  const { resource, provider, title, status, activity, project, workingDirectories, _meta } = summary;
  const directory = workingDirectories?.[0];
  const changesets = summary[PRIVATE]?.changesets;
  return {
    resource,
    provider,
    title,
    status,
    ...(activity !== undefined && { activity }),
    createdAt: Date.parse(summary.createdAt),
    modifiedAt: Date.parse(summary.modifiedAt),
    ...(project && { project }),
    ...selectionDown(_meta),
    ...(directory !== undefined && { workingDirectory: directory }),
    ...(changesets && { changesets: changesets.map(changesetEntryDown) }),
  };
}

export type CatalogueChanges = Ahp1.SessionSummaryChanges & { readonly [PRIVATE]?: SummaryExtras };

/** Undefined when nothing changed that 0.3.0 shows. */
export function summaryChangesDown(changes: CatalogueChanges): Ahp03.SessionSummaryChanges | undefined {
  const { title, status, activity, modifiedAt, project, workingDirectories, _meta } = changes;
  const { model, agent } = selectionOf(_meta ?? undefined);
  const changesets = changes[PRIVATE]?.changesets;
  const shown: Ahp03.SessionSummaryChanges = {
    ...(title !== undefined && { title }),
    ...(status !== undefined && { status }),
    ...(activity !== undefined && { activity }),
    ...(modifiedAt !== undefined && { modifiedAt: Date.parse(modifiedAt) }),
    ...(project !== undefined && { project }),
    ...(_meta !== undefined && { model: model ? modelDown(model) : null, agent: agent ?? null }),
    ...(workingDirectories !== undefined && { workingDirectory: workingDirectories?.[0] ?? null }),
    ...(changesets !== undefined && { changesets: changesets?.map(changesetEntryDown) ?? null }),
  };
  return Object.keys(shown).length > 0 ? shown : undefined;
}

// A session and its default chat

/** What a session's state in 1.0 lacks. */
export interface SessionFacts {
  readonly resource: string;
  /** ISO times from the catalogue; absent: those of the chat. */
  readonly createdAt?: string | undefined;
  readonly modifiedAt?: string | undefined;
}

/** Members of 0.3.0's summary for which 1.0 has no place. */
type KeptSession = Ahp1.SessionState & { readonly [PRIVATE]?: { readonly summary?: object } };

/** Used for a session whose chat does not exist yet. */
const NO_CHAT: Ahp1.ChatState = { resource: '', title: '', status: SessionStatus.Idle, modifiedAt: '', turns: [] };

export function sessionDown(
  session: Ahp1.SessionState,
  chat: Ahp1.ChatState = NO_CHAT,
  { resource, createdAt, modifiedAt }: SessionFacts,
): Ahp03.SessionState {
  const {
    provider,
    title,
    status,
    activity,
    origin,
    project,
    workingDirectories,
    annotations,
    lifecycle,
    activeClients,
    chats,
    defaultChat,
    customizations,
    changesets,
    inputNeeded,
    _meta,
    [PRIVATE]: kept,
    ...rest
  } = session as KeptSession;
  const requests = requestsDown(session, chat);
  const directory = workingDirectories?.[0];
  const client = shownClient(session);
  const meta = metaDown(_meta);
  const { activeTurn, steeringMessage, queuedMessages } = chat;
  return {
    ...rest,
    summary: {
      ...kept?.summary,
      resource,
      provider,
      title,
      status: (status & ~ACTIVITY_MASK) | activityDown(chat, requests),
      ...(activity !== undefined && { activity }),
      createdAt: timeDown(createdAt ?? chat.modifiedAt),
      modifiedAt: timeDown(modifiedAt ?? chat.modifiedAt),
      ...(project && { project }),
      ...selectionDown(_meta),
      ...(directory !== undefined && { workingDirectory: directory }),
      ...(changesets && { changesets: changesets.map(changesetEntryDown) }),
    },
    lifecycle: (lifecycle === 'failed' ? 'creationFailed' : lifecycle) as Ahp03.SessionLifecycle,
    ...(client && { activeClient: activeClientDown(client) }),
    turns: turnsDown(chat.turns),
    ...(activeTurn && { activeTurn: activeTurnDown(activeTurn) }),
    ...(steeringMessage && { steeringMessage: pendingDown(steeringMessage) }),
    ...(queuedMessages && { queuedMessages: queuedMessages.map(pendingDown) }),
    ...(requests.length > 0 && { inputRequests: requests }),
    ...(customizations && { customizations: customizations.map(customizationDown) }),
    ...(meta && { _meta: meta }),
  } as Ahp03.SessionState;
}

function timeDown(time: string): number {
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? 0 : milliseconds;
}

/**
 * All open questions: those of the running turn and those outside of turns. `inputNeeded` lists both in the order in
 * which they were asked.
 */
function requestsDown(
  { inputNeeded = [] }: Ahp1.SessionState,
  { activeTurn }: Ahp1.ChatState,
): Ahp03.SessionInputRequest[] {
  const inTurn = openRequests(activeTurn);
  const standing = inputNeeded.filter(isStanding).map(({ request }) => request);
  if (standing.length === 0) return inTurn;
  const outside = standing.filter(({ id }) => !inTurn.some((request) => request.id === id));
  const asked = inputNeeded.flatMap((entry) => (entry.kind === 'chatInput' ? [entry.request.id] : []));
  const placeOf = ({ id }: Ahp03.SessionInputRequest) => (asked.includes(id) ? asked.indexOf(id) : asked.length);
  return [...inTurn, ...outside].sort((a, b) => placeOf(a) - placeOf(b));
}

/** The activity that a client computes from 0.3.0 actions. It does not know calls that wait for a token. */
function activityDown({ status, activeTurn }: Ahp1.ChatState, requests: readonly unknown[]): number {
  if (requests.length > 0) return SessionStatus.InputNeeded;
  const own = status & ACTIVITY_MASK;
  const isHidden = own === SessionStatus.InputNeeded && !hasPendingCall(activeTurn);
  return isHidden ? SessionStatus.InProgress : own;
}

interface Projection extends SessionFacts {
  readonly session: Ahp1.SessionState;
  readonly state: Ahp03.SessionState;
}

const projections = new WeakMap<Ahp1.ChatState, Projection>();

/** Like `sessionDown`, for the states around steps: each is needed as the state after one step and before the next. */
export function sessionAround(
  session: Ahp1.SessionState,
  chat: Ahp1.ChatState | undefined,
  facts: SessionFacts,
): Ahp03.SessionState {
  const known = chat && projections.get(chat);
  if (known?.session === session && known.createdAt === facts.createdAt) return known.state;
  const state = sessionDown(session, chat, facts);
  if (chat) projections.set(chat, { session, state, ...facts });
  return state;
}

// Other channels

export function claimDown(claim: Ahp1.TerminalClaim): Ahp03.TerminalClaim {
  if (claim.kind !== 'session') return claim;
  const { chat, ...rest } = claim;
  return rest;
}

/** A terminal that ended without a code looks like a running one. */
function exitDown(lifecycle: Ahp1.TerminalLifecycle): { exitCode?: number } {
  const isKnown = lifecycle.status === 'exited' && lifecycle.exitCode !== undefined;
  return isKnown ? { exitCode: lifecycle.exitCode } : {};
}

export function terminalInfoDown({ claim, lifecycle, ...rest }: Ahp1.TerminalInfo): Ahp03.TerminalInfo {
  return { ...rest, claim: claimDown(claim), ...exitDown(lifecycle) };
}

export function terminalDown({ claim, lifecycle, isPty, ...rest }: Ahp1.TerminalState): Ahp03.TerminalState {
  return { ...rest, claim: claimDown(claim), ...exitDown(lifecycle) };
}

export const agentDown = cached((agent: Ahp1.AgentInfo): Ahp03.AgentInfo => {
  const { customizations, capabilities, ...rest } = agent;
  const shown = customizations && { customizations: customizations.map(customizationDown) };
  return { ...rest, ...shown } as Ahp03.AgentInfo;
});

export function rootDown({ agents, terminals, _meta, ...rest }: Ahp1.RootState): Ahp03.RootState {
  const shown = terminals && { terminals: terminals.map(terminalInfoDown) };
  return { ...rest, agents: agents.map(agentDown), ...shown } as Ahp03.RootState;
}

export function fileDown({ reviewed, ...file }: Ahp1.ChangesetFile): Ahp03.ChangesetFile {
  return file;
}

export function operationDown({ status, error, group, ...rest }: Ahp1.ChangesetOperation): Ahp03.ChangesetOperation {
  return rest as Ahp03.ChangesetOperation;
}

export function changesetDown({ files, operations, ...rest }: Ahp1.ChangesetState): Ahp03.ChangesetState {
  const offered = operations && { operations: operations.map(operationDown) };
  return { ...rest, files: files.map(fileDown), ...offered } as Ahp03.ChangesetState;
}
