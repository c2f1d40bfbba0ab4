/**
 * What can happen to a session: one handler for each type of action, in families. `sessionReducer` at the end combines
 * them. What happens in conversations is with the chat.
 */
import { withElement, withMembers, withoutMember, withValues } from '../../reducing.js';
import { SessionStatus } from '../../session/status.js';
import type { ChatSummary } from '../chat/state.js';
import {
  type Handlers,
  reducerOf,
  reordered,
  sameWhenEqual,
  upserted,
  withActivity,
  withDirectory,
  withFlag,
  withOptional,
  without,
  withoutDirectory,
} from '../reducing.js';
import type { SessionActionMap, SessionActionType } from './actions.js';
import type { ChildCustomization, Customization, McpServerState } from './customizations.js';
import type { SessionInputRequest, SessionState } from './state.js';

type SessionHandlers<Types extends SessionActionType> = Handlers<SessionState, Pick<SessionActionMap, Types>>;

const resourceOf = ({ resource }: { resource: string }) => resource;
const idOf = ({ id }: { id: string }) => id;
const clientIdOf = ({ clientId }: { clientId: string }) => clientId;

/**
 * The life of the session, and what lists show of it. The handlers set no times: the catalogue sets those of the
 * summary.
 */
const lifeHandlers: SessionHandlers<
  | 'session/ready'
  | 'session/creationFailed'
  | 'session/titleChanged'
  | 'session/isReadChanged'
  | 'session/isArchivedChanged'
  | 'session/activityChanged'
  | 'session/changesetsChanged'
> = {
  'session/ready': (state) => withMembers(state, { lifecycle: 'ready' }),

  'session/creationFailed': (state, { error }) => withMembers(state, { lifecycle: 'failed', creationError: error }),

  'session/titleChanged': (state, { title }) => withMembers(state, { title }),

  'session/isReadChanged': (state, { isRead }) =>
    withMembers(state, { status: withFlag(state.status, SessionStatus.IsRead, isRead) }),

  'session/isArchivedChanged': (state, { isArchived }) =>
    withMembers(state, { status: withFlag(state.status, SessionStatus.IsArchived, isArchived) }),

  'session/activityChanged': (state, { activity }) => withOptional(state, 'activity', activity),

  'session/changesetsChanged': (state, { changesets }) => withOptional(state, 'changesets', changesets),
};

/** The catalogue of chats. */
const chatHandlers: SessionHandlers<
  | 'session/chatAdded'
  | 'session/chatRemoved'
  | 'session/chatUpdated'
  | 'session/chatsReordered'
  | 'session/defaultChatChanged'
> = {
  'session/chatAdded': (state, { summary }) =>
    withMembers(state, { chats: upserted(state.chats, summary, resourceOf) }),

  'session/chatRemoved': (state, { chat }) => {
    const chats = without(state.chats, chat, resourceOf);
    if (chats === state.chats) return state;
    const rest = state.defaultChat === chat ? withoutMember(state, 'defaultChat') : state;
    return { ...rest, chats };
  },

  'session/chatUpdated': (state, { chat, changes }) => {
    const index = state.chats.findIndex(({ resource }) => resource === chat);
    const summary = state.chats[index];
    if (!summary) return state;
    return withMembers(state, { chats: withElement(state.chats, index, withChanges(summary, changes)) });
  },

  'session/chatsReordered': (state, { chats }) =>
    withMembers(state, { chats: reordered(state.chats, chats, resourceOf) }),

  'session/defaultChatChanged': (state, { defaultChat }) => withOptional(state, 'defaultChat', defaultChat),
};

type ChatChanges = SessionActionMap['session/chatUpdated']['changes'];

/** Changes a summary, but never its URI. A change without a value removes the member. */
function withChanges(summary: ChatSummary, { resource: _fixed, ...changes }: ChatChanges): ChatSummary {
  return Object.entries(changes).reduce(
    (changed, [key, value]) => withOptional(changed, key as keyof ChatSummary, value),
    summary,
  );
}

/** How the session is set up: configuration, metadata, tools, clients, working directories. */
const settingHandlers: SessionHandlers<
  | 'session/configChanged'
  | 'session/metaChanged'
  | 'session/serverToolsChanged'
  | 'session/activeClientSet'
  | 'session/activeClientRemoved'
  | 'session/workingDirectorySet'
  | 'session/workingDirectoryRemoved'
  | 'session/workingDirectoryReplaced'
> = {
  'session/configChanged': (state, action) =>
    state.config ? withMembers(state, { config: withValues(state.config, action) }) : state,

  'session/metaChanged': (state, { _meta }) => withOptional(state, '_meta', _meta),

  'session/serverToolsChanged': (state, { tools }) => withMembers(state, { serverTools: tools }),

  'session/activeClientSet': (state, { activeClient }) =>
    withMembers(state, { activeClients: upserted(state.activeClients, activeClient, clientIdOf) }),

  'session/activeClientRemoved': (state, { clientId }) =>
    withMembers(state, { activeClients: without(state.activeClients, clientId, clientIdOf) }),

  'session/workingDirectorySet': (state, { directory }) => withDirectory(state, directory),

  'session/workingDirectoryRemoved': (state, { directory }) => withoutDirectory(state, directory),

  'session/workingDirectoryReplaced': (state, { directory, replacement }) => {
    const { workingDirectories = [] } = state;
    if (!workingDirectories.includes(directory)) return state;
    const replaced = workingDirectories.map((other) => (other === directory ? replacement : other));
    return withMembers(state, {
      workingDirectories: sameWhenEqual(workingDirectories, [...new Set(replaced)]),
    });
  },
};

/** What waits for a person or a client in any of the chats. */
const inputHandlers: SessionHandlers<'session/inputNeededSet' | 'session/inputNeededRemoved'> = {
  'session/inputNeededSet': (state, { request }) =>
    withInputNeeded(state, upserted(state.inputNeeded ?? [], request, idOf)),

  'session/inputNeededRemoved': (state, { id }) => {
    const { inputNeeded = [] } = state;
    const left = without(inputNeeded, id, idOf);
    return left === inputNeeded ? state : withInputNeeded(state, left);
  },
};

/** A call that a client runs asks no person, so it does not raise the status. */
function withInputNeeded(state: SessionState, inputNeeded: SessionInputRequest[]): SessionState {
  const asksPerson = inputNeeded.some(({ kind }) => kind !== 'toolClientExecution');
  const status = asksPerson
    ? withActivity(state.status, SessionStatus.InputNeeded)
    : state.status & ~(SessionStatus.InputNeeded & ~SessionStatus.InProgress);
  return withMembers(withOptional(state, 'inputNeeded', inputNeeded.length ? inputNeeded : undefined), { status });
}

const STARTING: McpServerState = { kind: 'starting' };
const STOPPED: McpServerState = { kind: 'stopped' };

/** The tree of customizations, and the MCP servers in it. */
const customizationHandlers: SessionHandlers<
  | 'session/customizationsChanged'
  | 'session/customizationToggled'
  | 'session/customizationUpdated'
  | 'session/customizationRemoved'
  | 'session/mcpServerStateChanged'
  | 'session/mcpServerStartRequested'
  | 'session/mcpServerStopRequested'
  | 'session/mcpServerBackgroundRequested'
> = {
  'session/customizationsChanged': (state, { customizations }) => withMembers(state, { customizations }),

  'session/customizationToggled': (state, { id, enablement }) =>
    withCustomization(state, id, (entry) => {
      if (entry.type !== 'plugin' && entry.type !== 'mcpServer') {
        return withMembers(entry, { enabled: enablement[0]?.enabled ?? true });
      }
      return withOptional(entry, 'enablement', enablement.length ? enablement : undefined);
    }),

  'session/customizationUpdated': (state, { customization }) =>
    withMembers(state, { customizations: upserted(state.customizations ?? [], customization, idOf) }),

  'session/customizationRemoved': (state, { id }) => {
    const { customizations } = state;
    return customizations ? withMembers(state, { customizations: withoutEntry(customizations, id) }) : state;
  },

  'session/mcpServerStateChanged': (state, { id, state: serverState, channel }) =>
    withServer(state, id, serverState, channel),

  'session/mcpServerStartRequested': (state, { id }) => withServer(state, id, STARTING),

  'session/mcpServerStopRequested': (state, { id }) => withServer(state, id, STOPPED),

  'session/mcpServerBackgroundRequested': (state, { id }) =>
    withCustomization(state, id, (entry) => {
      const blocks = entry.type === 'mcpServer' && entry.state.kind === 'starting' && entry.state.blocking === true;
      return blocks ? { ...entry, state: { ...entry.state, blocking: false } } : entry;
    }),
};

type Entry = Customization | ChildCustomization;

/** Changes the top-level entry with this id, or else the first child with this id. MCP servers have no children. */
function withCustomization(state: SessionState, id: string, change: (entry: Entry) => Entry): SessionState {
  const { customizations = [] } = state;
  const index = customizations.findIndex((entry) => entry.id === id);
  const entry = customizations[index];
  if (entry)
    return withMembers(state, {
      customizations: withElement<Entry>(customizations, index, change(entry)) as Customization[],
    });
  const parentIndex = customizations.findIndex((parent) => childrenOf(parent).some((child) => child.id === id));
  const parent = customizations[parentIndex];
  if (!parent) return state;
  const children = childrenOf(parent);
  const changed = children.map((child) => (child.id === id ? (change(child) as ChildCustomization) : child));
  const holder = withMembers(parent, { children: sameWhenEqual(children, changed) });
  return withMembers(state, { customizations: withElement(customizations, parentIndex, holder) });
}

function childrenOf(entry: Customization): ChildCustomization[] {
  return entry.type !== 'mcpServer' && Array.isArray(entry.children) ? entry.children : [];
}

/** Sets an MCP server's state. Without a channel, the server no longer has one. */
function withServer(state: SessionState, id: string, serverState: McpServerState, channel?: string): SessionState {
  return withCustomization(state, id, (entry) =>
    entry.type === 'mcpServer' ? withMembers(withOptional(entry, 'channel', channel), { state: serverState }) : entry,
  );
}

/**
 * Removes the top-level entry with this id, or else the children with this id. Returns the same list when there are
 * none.
 */
function withoutEntry(list: Customization[], id: string): Customization[] {
  const rest = without(list, id, idOf);
  if (rest !== list) return rest;
  return sameWhenEqual(
    list,
    list.map((entry) => withoutChild(entry, id)),
  );
}

function withoutChild(entry: Customization, id: string): Customization {
  const children = childrenOf(entry);
  const rest = without(children, id, idOf);
  return rest === children ? entry : withMembers(entry, { children: rest });
}

export const sessionReducer = reducerOf<SessionState, SessionActionMap>({
  ...lifeHandlers,
  ...chatHandlers,
  ...settingHandlers,
  ...inputHandlers,
  ...customizationHandlers,
});
