/** AHP 0.5.1: 0.5.2 without names of client and host, switches of single customizations, and review of changes. */
import { leaveOut, listOf, type Rewrite, type VersionDelta } from '../upstream/delta.js';
import type { Json } from '../upstream/shapes.js';

/** Members that each type of customization gained with 0.5.2. */
const NEWER_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  plugin: ['_meta', 'version'],
  directory: ['_meta'],
  mcpServer: ['_meta'],
  agent: ['enabled', 'disableModelInvocation', 'disableUserInvocation'],
  skill: ['_meta', 'enabled', 'disableUserInvocation'],
  prompt: ['_meta', 'enabled'],
  rule: ['_meta', 'enabled'],
  hook: ['_meta', 'enabled'],
};

const customizationDown = (customization: Json) =>
  leaveOut(...(NEWER_MEMBERS[String(customization.type)] ?? []))(customization);

/**
 * Only top-level entries can be toggled here. A server inside one is sent with the whole entry, other contents not at
 * all.
 */
const toggledDown: Rewrite = (action, { around }) => {
  const container = around?.after;
  if (!container || container.id === action.id) return action;
  const isServer = listOf(container.children).some(({ id, type }) => id === action.id && type === 'mcpServer');
  return isServer ? { type: 'session/customizationUpdated', customization: container } : undefined;
};

/** A request to start or stop a server changes its state at once, in every version. */
const asState =
  (kind: string): Rewrite =>
  ({ id }) => ({ type: 'session/mcpServerStateChanged', id, state: { kind } });

export const ahp051: VersionDelta = {
  version: '0.5.1',
  lacks: {
    actions: ['session/mcpServerStartRequested', 'session/mcpServerStopRequested', 'changeset/filesReviewedChanged'],
  },
  needsStates: ['session/customizationToggled'],
  down: {
    Customization: customizationDown,
    'session/customizationToggled': toggledDown,
    'session/mcpServerStartRequested': asState('starting'),
    'session/mcpServerStopRequested': asState('stopped'),
    ResponsePart: (part) => (part.kind === 'inputRequest' ? undefined : part),
    ToolResultContent: (block) => (block.type === 'terminalComplete' ? undefined : block),
    ChangesetFile: leaveOut('reviewed'),
    'initialize:result': leaveOut('serverInfo', 'terminalCommandPrefix'),
  },
  up: {},
};
