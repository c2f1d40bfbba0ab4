/** Requests of 0.3.0 clients in terms of 1.0, and the host's results and notifications as 0.3.0 shows them. */
import { channelKind } from '../../ahp-1/channels.js';
import type * as Ahp1 from '../../ahp-1/index.js';
import { PRIVATE } from '../../ahp-1/private-members.js';
import type * as Ahp03 from '../../index.js';
import type { ModelView, SnapshotParts } from '../dialect.js';
import type { Call, Params } from '../dialect-0.3.js';
import {
  type CatalogueChanges,
  type CatalogueSummary,
  changesetDown,
  rootDown,
  sessionDown,
  summaryChangesDown,
  summaryDown,
  terminalDown,
} from './states.js';
import { turnDown } from './turns.js';
import { activeClientUp, claimUp } from './upcast.js';

/** A valid request of 0.3.0 in terms of 1.0. */
export interface UpRequest {
  readonly params: Params;
  resultDown(result: unknown, view: ModelView): unknown;
}

type Translator = (params: Params, view: ModelView) => UpRequest;

const unchanged = (result: unknown) => result;

/**
 * What 1.0 lacks stays as a private extension of its params: `model`, `agent` and `fork` of `createSession`; the page
 * of `fetchTurns`, under the private name, asks for turns in the answer instead of an action. Windows of turns (`turns:
 * { last }`, our own) are passed on unchanged.
 */
const translators: Readonly<Record<string, Translator>> = {
  initialize: (params) => ({ params, resultDown: initializeDown }),
  reconnect: (params) => ({ params, resultDown: reconnectDown }),
  subscribe: (params) => ({ params, resultDown: subscribeDown }),
  createSession: (params) => ({ params: createSessionUp(params), resultDown: unchanged }),
  listSessions: ({ filter, ...params }) => ({ params, resultDown: listSessionsDown }),
  fetchTurns: ({ channel, ...page }, view) => ({
    params: { channel: chatFor(channel, view), [PRIVATE]: page },
    resultDown: turnsDown,
  }),
  completions: (params, view) => ({
    params: { ...params, channel: chatFor(params.channel, view) },
    resultDown: unchanged,
  }),
  createTerminal: (params, view) => ({ params: createTerminalUp(params, view), resultDown: unchanged }),
  // An extension of our own, which clients of every wire may call.
  'atrium/listDisposed': (params) => ({ params, resultDown: disposedDown }),
};

export function requestUp({ method, params }: Call, view: ModelView): UpRequest {
  const translate = Object.hasOwn(translators, method) ? translators[method] : undefined;
  return translate?.(params, view) ?? { params, resultDown: unchanged };
}

/**
 * The default chat of a session. An unknown session keeps its name, so that the host answers that it does not exist.
 */
function chatFor(channel: unknown, view: ModelView): unknown {
  return (typeof channel === 'string' && view.defaultChatOf(channel)) || channel;
}

function createSessionUp(params: Params): Params {
  const { workingDirectory, activeClient, ...rest } = params;
  return {
    ...rest,
    // Makes the host refuse choices that nobody offers, instead of dropping them.
    [PRIVATE]: {},
    ...(workingDirectory !== undefined && { workingDirectories: [workingDirectory] }),
    ...(activeClient !== undefined && { activeClient: activeClientUp(activeClient as Ahp03.SessionActiveClient) }),
  };
}

function createTerminalUp(params: Params, view: ModelView): Params {
  const chatOf = (session: string) => view.defaultChatOf(session) ?? '';
  return { ...params, claim: claimUp(params.claim as Ahp03.TerminalClaim, chatOf) };
}

// Results. They come from our own host, so their types are trusted.

type WithSnapshots = { readonly snapshots: readonly SnapshotParts[] };

function snapshotsDown(snapshots: readonly SnapshotParts[], view: ModelView): Ahp03.Snapshot[] {
  return snapshots.flatMap((parts) => snapshotDown(parts, view) ?? []);
}

function initializeDown(result: unknown, view: ModelView): unknown {
  const { snapshots, serverInfo, terminalCommandPrefix, automations, _meta, ...rest } =
    result as Ahp1.InitializeResult & WithSnapshots;
  return { ...rest, snapshots: snapshotsDown(snapshots as readonly SnapshotParts[], view) };
}

/** Replayed actions have already been translated one by one. */
function reconnectDown(result: unknown, view: ModelView): unknown {
  const { _meta, ...rest } = result as Params;
  if (rest.type !== 'snapshot') return rest;
  return { ...rest, snapshots: snapshotsDown(rest.snapshots as readonly SnapshotParts[], view) };
}

function subscribeDown(result: unknown, view: ModelView): unknown {
  const { snapshot, ...rest } = result as { readonly snapshot?: SnapshotParts };
  const shown = snapshot && snapshotDown(snapshot, view);
  return { ...(shown && { snapshot: shown }), ...rest };
}

function listSessionsDown(result: unknown): Ahp03.ListSessionsResult {
  const { items } = result as { readonly items: readonly CatalogueSummary[] };
  return { items: items.map(summaryDown) };
}

function disposedDown(result: unknown): unknown {
  const { items } = result as { readonly items: readonly { readonly summary: CatalogueSummary }[] };
  return { items: items.map((item) => ({ ...item, summary: summaryDown(item.summary) })) };
}

function turnsDown(result: unknown): unknown {
  const { turns, ...rest } = result as { readonly turns: readonly Ahp1.Turn[] };
  return { ...rest, turns: turns.map(turnDown) };
}

// Snapshots

/** Undefined for a channel that 0.3.0 lacks, and for one without a state. */
export function snapshotDown({ channel, parts }: SnapshotParts, view: ModelView): Ahp03.Snapshot | undefined {
  const own = parts.find(({ resource }) => resource === channel);
  if (!own) return undefined;
  const state = stateDown(channel, own.state, parts, view);
  const fromSeq = Math.max(...parts.map((part) => part.fromSeq));
  return state && { resource: channel, state: state as Ahp03.Snapshot['state'], fromSeq };
}

function stateDown(
  channel: string,
  state: unknown,
  parts: readonly Ahp1.Snapshot[],
  view: ModelView,
): object | undefined {
  switch (channelKind(channel)) {
    case 'root':
      return rootDown(state as Ahp1.RootState);
    case 'terminal':
      return terminalDown(state as Ahp1.TerminalState);
    case 'changeset':
      return changesetDown(state as Ahp1.ChangesetState);
    case 'resourceWatch':
      return state as object;
    case 'session': {
      const { createdAt, modifiedAt } = view.summaryOf(channel) ?? {};
      const chat = parts.find(({ resource }) => channelKind(resource) === 'chat')?.state;
      const facts = { resource: channel, createdAt, modifiedAt };
      return sessionDown(state as Ahp1.SessionState, chat as Ahp1.ChatState | undefined, facts);
    }
    default:
      return undefined;
  }
}

// Notifications

/** Any host notification except `action`; undefined when 0.3.0 lacks it. */
export function notificationDown({ method, params }: Call): Call | undefined {
  switch (method) {
    case 'root/progress':
      return undefined;
    case 'root/sessionAdded':
      return { method, params: { ...params, summary: summaryDown(params.summary as CatalogueSummary) } };
    case 'root/sessionSummaryChanged': {
      const changes = summaryChangesDown(params.changes as CatalogueChanges);
      return changes && { method, params: { ...params, changes } };
    }
    case 'auth/required': {
      const { resource } = params.resource as Ahp1.ProtectedResourceMetadata;
      return { method, params: { ...params, resource } };
    }
    default:
      return { method, params };
  }
}
