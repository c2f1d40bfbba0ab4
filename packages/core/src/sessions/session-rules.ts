/**
 * Which actions of clients a session accepts. There is one rule per type: it looks at the state and says why an action
 * is refused, in words for the person who asked. Types without a rule are always accepted. The rules for conversations
 * are with the chat.
 */
import {
  type AgentInfo,
  type ChildCustomization,
  type Customization,
  isChildEnabled,
  isCustomizationEnabled,
  type McpServerCustomization,
  PRIVATE,
  SELECTION_CHANGED,
  type SelectionChangedAction,
  type SessionAction,
  type SessionActionMap,
  type SessionActionType,
  type SessionState,
  type StateAction,
  shownClient,
} from '@atrium/protocol/ahp-1';
import { pathOfUri } from '../util/folders.js';
import { badValue } from '../util/shape.js';
import {
  CHOICE_MAX_CHARACTERS,
  FOLDER_URI_MAX_CHARACTERS,
  GIVEN_TITLE_MAX_CHARACTERS,
  SESSION_FOLDERS_MAX,
} from './limits.js';

/** Actions that clients may dispatch on a session's channel. Only older wires have the second kind. */
export type DispatchedAction = StateAction | SelectionChangedAction;

export interface SessionFacts {
  readonly state: SessionState;
  /** The client that dispatched the action. */
  readonly clientId: string;
  /** The session's agent, as the host lists it. */
  readonly agent?: AgentInfo | undefined;
}

/** Says why an action is refused; undefined when it is accepted. */
type Rule<Action> = (action: Action, facts: SessionFacts) => string | undefined;
type Rules = { readonly [Type in SessionActionType]?: Rule<SessionActionMap[Type]> } & {
  readonly [SELECTION_CHANGED]?: Rule<SelectionChangedAction>;
};

/** Compares JSON values. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Rules for configuration and customizations. */
const configRules: Rules = {
  'session/titleChanged': ({ title }) =>
    title.length > GIVEN_TITLE_MAX_CHARACTERS
      ? `a title may have at most ${GIVEN_TITLE_MAX_CHARACTERS} characters`
      : undefined,

  'session/configChanged': ({ config, replace }, { state }) => {
    if (!state.config) return 'this session has no configuration';
    const { schema, values } = state.config;
    for (const [key, value] of Object.entries(config)) {
      const property = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
      if (!property) return `there is no property ${key}`;
      if (!property.sessionMutable && !isSame(value, values[key])) return `${key} cannot be changed any more`;
      const bad = badValue(property, value);
      if (bad) return `${key} must be ${bad}`;
    }
    const dropped =
      replace && Object.keys(values).find((key) => !(key in config) && !schema.properties[key]?.sessionMutable);
    return dropped ? `${dropped} cannot be removed` : undefined;
  },

  [SELECTION_CHANGED]: ({ model, agent }, { state }) =>
    tooLong('model', model) ?? tooLong('agent', agent ?? undefined) ?? switchedOff(agent?.uri, state),

  'session/customizationToggled': ({ id, enablement }, { state }) => {
    const tooMuch = JSON.stringify(enablement).length > CHOICE_MAX_CHARACTERS;
    if (tooMuch) return `enablement may have at most ${CHOICE_MAX_CHARACTERS} characters as JSON`;
    const known = state.customizations?.some(
      (entry) => entry.id === id || childrenOf(entry).some((child) => child.id === id),
    );
    return known ? undefined : `there is no customization ${id}`;
  },
};

/** Says why a custom agent cannot be chosen, when every customization that has it is switched off. */
export function switchedOff(agent: string | undefined, { customizations = [] }: SessionState): string | undefined {
  const found = customizations.flatMap((entry) => childrenOf(entry).map((child) => ({ entry, child })));
  const agents = found.filter(({ child }) => child.type === 'agent' && child.uri === agent);
  const [first] = agents;
  if (!first || agents.some(({ entry, child }) => isChildEnabled(entry, child))) return undefined;
  if (isCustomizationEnabled(first.entry)) return `the agent ${first.child.name} is switched off`;
  return `this agent belongs to ${first.entry.name}, which is switched off`;
}

export function childrenOf(entry: Customization) {
  return ('children' in entry ? entry.children : undefined) ?? [];
}

/** Limits a choice, because every session list contains it. */
export function tooLong(name: 'model' | 'agent', chosen: object | undefined): string | undefined {
  const isTooLong = chosen !== undefined && JSON.stringify(chosen).length > CHOICE_MAX_CHARACTERS;
  return isTooLong ? `${name} may have at most ${CHOICE_MAX_CHARACTERS} characters as JSON` : undefined;
}

/**
 * Rules for active clients: a client speaks only for itself. On older wires, which mark their actions, only one client
 * at a time has the role.
 */
const activeClientRules: Rules = {
  'session/activeClientSet': (action, { state, clientId }) => {
    if (action.activeClient.clientId !== clientId) return 'a client can claim the role only for itself';
    const holder = PRIVATE in action ? shownClient(state)?.clientId : undefined;
    return holder === undefined || holder === clientId ? undefined : `${holder} is the active client`;
  },

  'session/activeClientRemoved': (action, { state, clientId }) => {
    if (action.clientId !== clientId) return 'a client can give up the role only for itself';
    const isHeld = !(PRIVATE in action) || state.activeClients.some((client) => client.clientId === clientId);
    return isHeld ? undefined : 'only the active client can give the role up';
  },
};

/** Refuses changes of folders for agents that work in one folder. */
export function oneFolder({ agent }: Pick<SessionFacts, 'agent'>): string | undefined {
  return agent?.capabilities?.multipleWorkingDirectories ? undefined : 'the agent of this session works in one folder';
}

/** Checks the form of a folder's URI. Whether the folder exists is checked when tools use it: it may come and go. */
function noFolder(uri: string): string | undefined {
  if (uri.length > FOLDER_URI_MAX_CHARACTERS)
    return `the URI of a folder may have at most ${FOLDER_URI_MAX_CHARACTERS} characters`;
  return pathOfUri(uri) === undefined ? `${uri} is not a folder of this machine: write file:///…` : undefined;
}

/** Rules for folders: the first one, in which the session was created, stays. */
const folderRules: Rules = {
  'session/workingDirectorySet': ({ directory }, facts) =>
    oneFolder(facts) ??
    noFolder(directory) ??
    ((facts.state.workingDirectories?.length ?? 0) < SESSION_FOLDERS_MAX
      ? undefined
      : `a session works in ${SESSION_FOLDERS_MAX} folders at most`),

  'session/workingDirectoryRemoved': ({ directory }, facts) => {
    const { immutablePrimary } = facts.agent?.capabilities?.multipleWorkingDirectories ?? {};
    const isProtected = immutablePrimary && facts.state.workingDirectories?.[0] === directory;
    return oneFolder(facts) ?? (isProtected ? 'the first folder of this session cannot be removed' : undefined);
  },

  'session/workingDirectoryReplaced': ({ directory, replacement }, facts) => {
    const { primaryReplacement } = facts.agent?.capabilities?.multipleWorkingDirectories ?? {};
    const isProtected = !primaryReplacement && facts.state.workingDirectories?.[0] === directory;
    return (
      oneFolder(facts) ?? (isProtected ? 'the first folder of this session cannot be replaced' : noFolder(replacement))
    );
  },
};

/** Rules for starting and stopping MCP servers. */
const serverRules: Rules = {
  'session/mcpServerStartRequested': ({ id }, { state }) => {
    const found = serverIn(state, id);
    if (!found) return `there is no MCP server ${id}`;
    const isOn = isCustomizationEnabled(found.server) && isCustomizationEnabled(found.entry);
    return isOn ? undefined : `${found.server.name} is switched off: switch it on first`;
  },

  'session/mcpServerStopRequested': ({ id }, { state }) =>
    serverIn(state, id) ? undefined : `there is no MCP server ${id}`,

  'session/mcpServerBackgroundRequested': ({ id }, { state }) => {
    const found = serverIn(state, id)?.server.state;
    return found?.kind === 'starting' && found.blocking ? undefined : `nothing waits for an MCP server ${id}`;
  },
};

interface FoundServer {
  readonly server: McpServerCustomization;
  /** The top-level entry that contains it, or is it. */
  readonly entry: Customization;
}

function serverIn({ customizations = [] }: SessionState, id: string): FoundServer | undefined {
  for (const entry of customizations) {
    const server = [entry, ...childrenOf(entry)].find((each) => each.id === id);
    if (server) return server.type === 'mcpServer' ? { server, entry } : undefined;
  }
  return undefined;
}

const rules: Rules = { ...activeClientRules, ...configRules, ...folderRules, ...serverRules };

export function sessionRefusal(action: DispatchedAction, facts: SessionFacts): string | undefined {
  const rule = rules[action.type as SessionActionType] as Rule<DispatchedAction> | undefined;
  return rule?.(action, facts);
}

/** True for actions that wait for the end of the turn, which keeps the model and the agent that it began with. */
export function mustWait({ type }: DispatchedAction): boolean {
  return type === SELECTION_CHANGED;
}

/** The container to publish again when a toggled server is inside it: older wires switch only containers. */
export function containerOfToggled(
  action: SessionAction,
  { customizations = [] }: SessionState,
): Customization | undefined {
  if (action.type !== 'session/customizationToggled') return undefined;
  if (customizations.some(({ id }) => id === action.id)) return undefined;
  const isServer = ({ id, type }: ChildCustomization) => id === action.id && type === 'mcpServer';
  return customizations.find((entry) => childrenOf(entry).some(isServer));
}
