/** What each trust level may do. The gateway asks this table about every message; nothing else decides. */
import {
  type ProviderSessionEventName,
  SESSION_EVENT_NAMES,
  STATIC_TRANSFORM_ACTIONS,
  type StaticTransformAction,
} from './message-types.js';

/** `internal` runs in the process, `project` was spawned from project configuration, `external` connected by itself. */
export const TRUST_LEVELS = ['internal', 'project', 'external'] as const;
export type TrustLevel = (typeof TRUST_LEVELS)[number];

/** Which sessions a provider may bind to; `any` includes all of them at once. */
export type BindingScope = 'any' | 'spawning-session' | 'paired-session';

/** Each capability with the type of its grant: mostly yes or no, sometimes a list. */
export interface CapabilityGrants {
  readonly registerTools: boolean;
  readonly push: boolean;
  readonly registerHookRules: boolean;
  readonly callbackTransforms: boolean;
  readonly staticTransforms: readonly StaticTransformAction[];
  readonly queryOwnStreams: boolean;
  readonly queryOtherStreams: boolean;
  readonly subscribe: readonly ProviderSessionEventName[];
  readonly bind: BindingScope;
  readonly setContext: boolean;
  /** Results by file reference, with a `persistDir` for the file. */
  readonly fileResults: boolean;
}

export type Capability = keyof CapabilityGrants;
export type CapabilityMatrix = { readonly [Name in Capability]: Readonly<Record<TrustLevel, CapabilityGrants[Name]>> };

const TOOL_EVENTS_ONLY = ['tool.execution_complete'] as const;

export const CAPABILITY_MATRIX = {
  registerTools: { internal: true, project: true, external: true },
  push: { internal: true, project: true, external: true },
  registerHookRules: { internal: true, project: true, external: false },
  callbackTransforms: { internal: true, project: true, external: false },
  staticTransforms: {
    internal: STATIC_TRANSFORM_ACTIONS,
    project: STATIC_TRANSFORM_ACTIONS,
    external: ['append'],
  },
  queryOwnStreams: { internal: true, project: true, external: true },
  queryOtherStreams: { internal: true, project: false, external: false },
  subscribe: { internal: SESSION_EVENT_NAMES, project: SESSION_EVENT_NAMES, external: TOOL_EVENTS_ONLY },
  bind: { internal: 'any', project: 'spawning-session', external: 'paired-session' },
  setContext: { internal: true, project: true, external: false },
  fileResults: { internal: true, project: true, external: false },
} as const satisfies CapabilityMatrix;

export const CAPABILITIES = Object.keys(CAPABILITY_MATRIX) as readonly Capability[];

/** What a trust level may do with one capability. */
export function grantOf<Name extends Capability>(capability: Name, trust: TrustLevel): CapabilityGrants[Name] {
  const matrix: CapabilityMatrix = CAPABILITY_MATRIX;
  return matrix[capability][trust];
}

/** Sections that no trust level may rewrite. */
export const PROTECTED_SECTIONS: ReadonlySet<string> = new Set(['safety', 'identity']);

/** The only changes that a protected section allows. */
export const PROTECTED_SECTION_ACTIONS: readonly StaticTransformAction[] = ['append'];
