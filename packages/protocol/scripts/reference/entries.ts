/** Everything that the reference describes: one entry for each command, notification, action, message and type. */
import { type ActionType, stateActions } from '../../src/ahp-1/actions.js';
import { CLIENT_DISPATCHABLE } from '../../src/ahp-1/dispatchable.js';
import { clientNotifications, clientRequests, hostNotifications, hostRequests } from '../../src/ahp-1/methods.js';
import * as ahp from '../../src/ahp-1/schemas.js';
import { toGatewayMessages } from '../../src/provider/messages-to-gateway.js';
import { toProviderMessages } from '../../src/provider/messages-to-provider.js';
import type { SchemaNode } from '../../src/schema/node.js';
import { ACTION_INTRODUCED_IN, NOTIFICATION_INTRODUCED_IN } from '../../src/versions/ahp-1-introduced-in.js';
import { bundled, type Definitions } from '../bundle.js';

/** The headings of a page, in their order. */
export const GROUPS = [
  'State',
  'Commands',
  'Notifications',
  'Actions',
  'To the gateway',
  'To the provider',
  'Types',
] as const;
export type Group = (typeof GROUPS)[number];

export interface Entry {
  readonly group: Group;
  /** Its name on the wire, or the name of the type. */
  readonly name: string;
  /** Who sends it, and since when. */
  readonly note: string;
  /** The definitions that describe it: one, or what a command takes and gives. */
  readonly definitions: readonly string[];
}

export const definitions: Definitions = new Map();

type Call = { readonly params: SchemaNode; readonly result: SchemaNode };
const named = (schema: SchemaNode): string => {
  bundled(schema, definitions);
  return schema.$id ?? '';
};

function commands(): Entry[] {
  const [asked, asking]: Record<string, Call>[] = [clientRequests, hostRequests];
  return Object.entries({ ...asked, ...asking }).map(([name, { params, result }]) => {
    const direction = asked?.[name] && asking?.[name] ? 'Either side to the other.' : directionOf(asked?.[name]);
    return { group: 'Commands', name, note: direction, definitions: [named(params), named(result)] };
  });
}

const directionOf = (asked: unknown): string => (asked ? 'Client to host.' : 'Host to client.');

function notifications(): Entry[] {
  const rows = (table: Record<string, SchemaNode>, note: (name: string) => string): Entry[] =>
    Object.entries(table).map(([name, params]) => ({
      group: 'Notifications',
      name,
      note: note(name),
      definitions: [named(params)],
    }));
  return [
    ...rows(clientNotifications, () => 'Client to host.'),
    ...rows(hostNotifications, (name) => `Host to client.${sinceText(NOTIFICATION_INTRODUCED_IN, name)}`),
  ];
}

const WHO_DISPATCHES = {
  true: 'Clients may dispatch it.',
  false: 'Only the host sends it.',
  owner: 'Only the client that owns the tool may dispatch it.',
};

function actions(): Entry[] {
  return Object.entries(stateActions).map(([name, schema]) => {
    const who = WHO_DISPATCHES[`${CLIENT_DISPATCHABLE[name as ActionType]}`];
    const note = `${who}${sinceText(ACTION_INTRODUCED_IN, name)}`;
    return { group: 'Actions', name, note, definitions: [named(schema)] };
  });
}

function messages(): Entry[] {
  const rows = (group: Group, table: Record<string, SchemaNode>): Entry[] =>
    Object.entries(table).map(([name, schema]) => ({ group, name, note: '', definitions: [named(schema)] }));
  return [...rows('To the gateway', toGatewayMessages), ...rows('To the provider', toProviderMessages)];
}

/** Named definitions that are none of the above. */
function types(described: ReadonlySet<string>): Entry[] {
  const extra: SchemaNode[] = [ahp.StateAction, ahp.TelemetryCapabilities, ...Object.values(ahp.errorData)];
  const frames = [ahp.JsonRpcRequest, ahp.JsonRpcNotification, ahp.JsonRpcSuccessResponse, ahp.JsonRpcErrorResponse];
  for (const schema of [...extra, ...frames]) named(schema);
  const states = new Set(Object.values(ahp.channelStates).map(named));
  return [...definitions.keys()]
    .filter((name) => !described.has(name))
    .sort()
    .map((name) => ({ group: states.has(name) ? 'State' : 'Types', name, note: '', definitions: [name] }));
}

/** Messages of the first version need no note. */
function sinceText(table: Readonly<Record<string, string>>, name: string): string {
  const since = table[name];
  return since === undefined || since === '0.1.0' ? '' : ` Since ${since}.`;
}

export function allEntries(): Entry[] {
  const wire = [...commands(), ...notifications(), ...actions(), ...messages()];
  return [...wire, ...types(new Set(wire.flatMap((entry) => entry.definitions)))];
}
