/**
 * Stored 0.3.0 data in the 1.0 model: states, turns, and the end of a log. Nothing is lost: `sessionDown` of the result
 * is the stored state. The host uses this when it opens a data folder of an older host.
 */

import { steeringPart } from '../../ahp-1/chat/steering.js';
import type * as Ahp1 from '../../ahp-1/index.js';
import { PRIVATE, standingEntry } from '../../ahp-1/private-members.js';
import { withSelection } from '../../ahp-1/session/selection.js';
import type * as Ahp03 from '../../index.js';
import type { UnknownAction } from '../../reducing.js';
import { sessionReducer } from '../../session/reducer.js';
import { ACTIVITY_MASK, SessionStatus } from '../../session/status.js';
import { steeringIn } from '../../session/steering.js';
import type { CatalogueSummary } from './states.js';

// Messages and turns

/** 0.3.0 has no origin of a message. */
export function messageUp(message: Ahp03.UserMessage): Ahp1.Message {
  return { ...message, origin: { kind: 'user' } };
}

function pendingUp({ userMessage, ...rest }: Ahp03.PendingMessage): Ahp1.PendingMessage {
  return { ...rest, message: messageUp(userMessage) };
}

export function contributorUp(toolClientId: string | undefined): { contributor?: Ahp1.ToolCallContributor } {
  return toolClientId === undefined ? {} : { contributor: { kind: 'client', clientId: toolClientId } };
}

function toolCallUp(call: Ahp03.ToolCallState): Ahp1.ToolCallState {
  const { toolClientId, userSuggestion, ...rest } = call as Ahp03.ToolCallCancelledState;
  return {
    ...rest,
    ...contributorUp(toolClientId),
    ...(userSuggestion && { userSuggestion: messageUp(userSuggestion) }),
  } as Ahp1.ToolCallState;
}

export function partUp(part: Ahp03.ResponsePart): Ahp1.ResponsePart {
  if (part.kind === 'toolCall') return { ...part, toolCall: toolCallUp(part.toolCall) };
  const steering = steeringIn(part);
  if (!steering) return part as Ahp1.ResponsePart;
  const { userMessage, ...rest } = part as Ahp03.SteeringPart;
  // What was shown stays word for word, whatever sentence the host puts around such messages today.
  return { ...steeringPart(messageUp(steering)), ...rest };
}

/** A finished turn. Its time and its model were never stored. */
export function turnUp({ userMessage, responseParts, ...rest }: Ahp03.Turn): Ahp1.Turn {
  const parts = responseParts.map(partUp);
  if (rest.state !== 'error') return { ...rest, message: messageUp(userMessage), responseParts: parts };
  const { error, ...ended } = rest;
  const failure: Ahp1.ResponsePart[] = error ? [{ kind: 'error', error }] : [];
  return { ...ended, message: messageUp(userMessage), responseParts: [...parts, ...failure] };
}

/** The active turn. Open questions were listed beside it; in 1.0 they are in it. */
function activeTurnUp(
  { userMessage, responseParts, ...rest }: Ahp03.ActiveTurn,
  requests: readonly Ahp03.SessionInputRequest[],
  startedAt: string,
): Ahp1.ActiveTurn {
  const questions = requests.map((request): Ahp1.ResponsePart => ({ kind: 'inputRequest', request }));
  return {
    ...rest,
    startedAt,
    message: messageUp(userMessage),
    responseParts: [...responseParts.map(partUp), ...questions],
  };
}

// Customizations, clients, changesets

/** A client's choice in 0.3.0 applied to its session. */
export function enablementUp(enabled: boolean): Ahp1.CustomizationEnablement {
  return { kind: 'session', enabled };
}

function childUp(child: Ahp03.ChildCustomization): Ahp1.ChildCustomization {
  return child.type === 'mcpServer' ? (serverUp(child as object) as Ahp1.McpServerCustomization) : child;
}

/** On is the default and needs no decision. No server of a stored session is running. */
function serverUp({ enabled, state: _ran, ...rest }: { readonly enabled?: boolean; readonly state?: unknown }): object {
  return { ...rest, ...(enabled === false && { enablement: [enablementUp(false)] }), state: { kind: 'stopped' } };
}

export function customizationUp(entry: Ahp03.Customization): Ahp1.Customization {
  const type: string = entry.type;
  if (type === 'mcpServer') return serverUp(entry) as Ahp1.Customization;
  const children = entry.children && { children: entry.children.map(childUp) };
  if (type !== 'plugin') return { ...entry, ...children } as Ahp1.Customization;
  const { enabled, ...rest } = entry;
  const decision = enabled === false && { enablement: [enablementUp(false)] };
  return { ...rest, ...children, ...decision } as Ahp1.Customization;
}

export function activeClientUp({ customizations, ...rest }: Ahp03.SessionActiveClient): Ahp1.SessionActiveClient {
  if (!customizations) return rest;
  return { ...rest, customizations: customizations.map(customizationUp) as Ahp1.ClientPluginCustomization[] };
}

export function changesetEntryUp(entry: Ahp03.ChangesetSummary): Ahp1.Changeset {
  return { ...entry, changeKind: changeKindOf(entry.uriTemplate) };
}

function changeKindOf(uriTemplate: string): Ahp1.Changeset['changeKind'] {
  if (uriTemplate.includes('{originalTurnId}')) return 'compare-turns';
  if (uriTemplate.includes('{turnId}')) return 'turn';
  return uriTemplate.includes('uncommitted') ? 'uncommitted' : 'session';
}

// Sessions

/** A 0.3.0 session in the 1.0 model: on two channels, and in the catalogue. */
export interface UpcastSession {
  readonly session: Ahp1.SessionState;
  readonly chat: Ahp1.ChatState;
  readonly summary: CatalogueSummary;
}

/** `chat` is the URI of the default chat. */
export function sessionUp(state: Ahp03.SessionState, chat: string): UpcastSession {
  const { summary, lifecycle, activeClient, turns, activeTurn, steeringMessage, queuedMessages, ...others } = state;
  const { inputRequests = [], customizations, _meta, ...rest } = others;
  const { resource, provider, title, status, activity, createdAt, modifiedAt, ...inList } = summary;
  const { project, model, agent, workingDirectory, changesets, ...unknown } = inList;
  const modified = timeUp(modifiedAt);
  const selected = model || agent ? withSelection(_meta, { model, agent }) : _meta;
  const shared = {
    provider,
    title,
    ...(activity !== undefined && { activity }),
    ...(project && { project }),
    ...(workingDirectory !== undefined && { workingDirectories: [workingDirectory] }),
  };
  const chatSummary: Ahp1.ChatSummary = {
    resource: chat,
    title,
    status: chatStatus(state),
    // An activity set in a turn ends with the turn.
    ...(activeTurn && activity !== undefined && { activity }),
    modifiedAt: modified,
    origin: { kind: 'user' },
  };
  const chatState: Ahp1.ChatState = {
    ...chatSummary,
    turns: turns.map(turnUp),
    ...(activeTurn && { activeTurn: activeTurnUp(activeTurn, inputRequests, modified) }),
    ...(steeringMessage && { steeringMessage: pendingUp(steeringMessage) }),
    ...(queuedMessages && { queuedMessages: queuedMessages.map(pendingUp) }),
  };
  const standing = activeTurn ? [] : inputRequests.map((request) => standingEntry(chat, request));
  const inputNeeded = [...standing, ...inputNeededOf(chatState)];
  const waits = inputNeeded.some(({ kind }) => kind !== 'toolClientExecution');
  const listed = changesets?.map(changesetEntryUp);
  return {
    session: {
      ...rest,
      ...shared,
      status: (status & ~ACTIVITY_MASK) | (waits ? SessionStatus.InputNeeded : SessionStatus.Idle),
      lifecycle: lifecycle === 'creationFailed' ? 'failed' : lifecycle,
      activeClients: activeClient ? [activeClientUp(activeClient)] : [],
      chats: [chatSummary],
      defaultChat: chat,
      ...(customizations && { customizations: customizations.map(customizationUp) }),
      ...(listed && { changesets: listed }),
      ...(inputNeeded.length > 0 && { inputNeeded }),
      ...(selected && { _meta: selected }),
      ...(Object.keys(unknown).length > 0 && { [PRIVATE]: { summary: unknown } }),
    } as Ahp1.SessionState,
    chat: chatState,
    summary: {
      resource,
      ...shared,
      status,
      createdAt: timeUp(createdAt),
      modifiedAt: modified,
      ...(listed && { changes: totals(listed), [PRIVATE]: { changesets: listed } }),
      chats: [{ resource: chat, title, status: chatSummary.status, origin: { kind: 'user' } }],
      defaultChat: chat,
      ...(selected && { _meta: selected }),
    },
  };
}

export function timeUp(milliseconds: number): string {
  const time = new Date(milliseconds);
  return Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString();
}

/** A question outside of turns makes the session wait, not the chat. */
function chatStatus({ summary: { status }, activeTurn }: Ahp03.SessionState): number {
  const own = status & ~SessionStatus.IsArchived;
  const waitsOutside = !activeTurn && (own & ACTIVITY_MASK) === SessionStatus.InputNeeded;
  return waitsOutside ? (own & ~ACTIVITY_MASK) | SessionStatus.Idle : own;
}

/** The total of the changes of the whole session. */
function totals(changesets: readonly Ahp1.Changeset[]): Ahp1.ChangesSummary {
  const [whole] = changesets;
  const { additions, deletions, files } = whole ?? {};
  return {
    ...(additions !== undefined && { additions }),
    ...(deletions !== undefined && { deletions }),
    ...(files !== undefined && { files }),
  };
}

/** The entries of `inputNeeded` that mirror the running turn of a chat. */
export function inputNeededOf({ resource: chat, activeTurn }: Ahp1.ChatState): Ahp1.SessionInputRequest[] {
  if (!activeTurn) return [];
  const { id: turnId } = activeTurn;
  return activeTurn.responseParts.flatMap((part): Ahp1.SessionInputRequest[] => {
    if (part.kind === 'inputRequest') {
      const { request } = part;
      return part.response ? [] : [{ kind: 'chatInput', id: `input:${request.id}`, chat, request }];
    }
    if (part.kind !== 'toolCall') return [];
    const { toolCall } = part;
    const entry = { id: `tool:${toolCall.toolCallId}`, chat, turnId };
    if (toolCall.status === 'auth-required') return [{ kind: 'toolAuthentication', ...entry, toolCall }];
    if (toolCall.status === 'pending-confirmation' || toolCall.status === 'pending-result-confirmation') {
      return [{ kind: 'toolConfirmation', ...entry, toolCall }];
    }
    if (toolCall.status !== 'running' || toolCall.contributor?.kind !== 'client') return [];
    return [{ kind: 'toolClientExecution', ...entry, clientId: toolCall.contributor.clientId, toolCall }];
  });
}

/** A 0.3.0 action in a log, with the time at which it was accepted. */
export interface StoredAction {
  readonly action: UnknownAction;
  readonly now: number;
}

/** A 0.3.0 state, and the actions stored after it, which are applied by the rules of 0.3.0. */
export function sessionUpWithLog(state: Ahp03.SessionState, log: Iterable<StoredAction>, chat: string): UpcastSession {
  let current = state;
  for (const { action, now } of log) current = sessionReducer(current, action, { now });
  return sessionUp(current, chat);
}

// Other channels

/** `chatOf` names the default chat of a session. */
export function claimUp(claim: Ahp03.TerminalClaim, chatOf: (session: string) => string): Ahp1.TerminalClaim {
  return claim.kind === 'session' ? { ...claim, chat: chatOf(claim.session) } : claim;
}

function lifecycleUp(exitCode: number | undefined): Ahp1.TerminalLifecycle {
  return exitCode === undefined ? { status: 'running' } : { status: 'exited', exitCode };
}

export function terminalUp(
  { claim, exitCode, ...rest }: Ahp03.TerminalState,
  chatOf: (session: string) => string,
): Ahp1.TerminalState {
  return { ...rest, claim: claimUp(claim, chatOf), lifecycle: lifecycleUp(exitCode) };
}

export function terminalInfoUp(
  { claim, exitCode, ...rest }: Ahp03.TerminalInfo,
  chatOf: (session: string) => string,
): Ahp1.TerminalInfo {
  return { ...rest, claim: claimUp(claim, chatOf), lifecycle: lifecycleUp(exitCode) };
}

export function agentUp({ customizations, ...rest }: Ahp03.AgentInfo): Ahp1.AgentInfo {
  return { ...rest, ...(customizations && { customizations: customizations.map(customizationUp) }) } as Ahp1.AgentInfo;
}

export function rootUp(
  { agents, terminals, ...rest }: Ahp03.RootState,
  chatOf: (session: string) => string,
): Ahp1.RootState {
  const listed = terminals && { terminals: terminals.map((info) => terminalInfoUp(info, chatOf)) };
  return { ...rest, agents: agents.map(agentUp), ...listed };
}

export function operationUp(operation: Ahp03.ChangesetOperation): Ahp1.ChangesetOperation {
  return { ...operation, status: 'idle' };
}

export function changesetUp({ operations, ...rest }: Ahp03.ChangesetState): Ahp1.ChangesetState {
  return { ...rest, ...(operations && { operations: operations.map(operationUp) }) };
}
