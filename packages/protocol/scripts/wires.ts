/** The wires whose schemas this package holds: AHP 1.0, the model of the host, and 0.3.0, on which older dialects stand. */
import * as ahp1 from '../src/ahp-1/schemas.js';
import type { SchemaNode } from '../src/schema/node.js';
import * as ahp from '../src/schemas.js';
import { AHP_1_VERSION } from '../src/versions/agreement.js';
import { AHP_0_3_VERSION } from '../src/versions/versions.js';

export type SchemaTable = Readonly<Record<string, SchemaNode>>;
export type CallTable = Readonly<Record<string, { readonly params: SchemaNode; readonly result: SchemaNode }>>;

/** All schemas of one wire. */
export interface WireSchemas {
  readonly channelStates: SchemaTable;
  readonly stateActions: SchemaTable;
  readonly clientRequests: CallTable;
  readonly hostRequests: CallTable;
  readonly clientNotifications: SchemaTable;
  readonly hostNotifications: SchemaTable;
  readonly errorData: SchemaTable;
  readonly StateAction: SchemaNode;
  readonly ActionEnvelope: SchemaNode;
  readonly Snapshot: SchemaNode;
  readonly TelemetryCapabilities: SchemaNode;
  readonly JsonRpcRequest: SchemaNode;
  readonly JsonRpcNotification: SchemaNode;
  readonly JsonRpcSuccessResponse: SchemaNode;
  readonly JsonRpcErrorResponse: SchemaNode;
}

interface WireSource {
  /** What the names of its generated files begin with. */
  readonly prefix: string;
  readonly version: string;
  readonly schemas: WireSchemas;
}

export const PRESENT_WIRE: WireSource = { prefix: '', version: AHP_0_3_VERSION, schemas: ahp };
export const AHP_1_WIRE: WireSource = { prefix: 'ahp-1-', version: AHP_1_VERSION, schemas: ahp1 };

/** The wire whose peers a published version belongs to. Below 1.0 that is the present model. */
export function wireOf(version: string): WireSource {
  return version.startsWith('0.') ? PRESENT_WIRE : AHP_1_WIRE;
}
