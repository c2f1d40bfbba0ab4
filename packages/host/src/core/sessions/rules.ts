/**
 * Whether a session may take an action that a client asked for. One rule per type; each looks at the state and says
 * why not, in words for the person who asked. No rule means: always.
 */
import type { SessionActionMap, SessionActionType, SessionState, StateAction } from '@atrium/protocol';
import { activeClientRules } from './rules/active-client.js';
import { configRules } from './rules/config.js';
import { inputRules } from './rules/input.js';
import { toolCallRules } from './rules/tool-calls.js';
import { turnRules } from './rules/turns.js';

export interface Facts {
  readonly state: SessionState;
  /** Who asks. */
  readonly clientId: string;
}

/** Why not; undefined when the action may be taken. */
export type Rule<Action> = (action: Action, facts: Facts) => string | undefined;
export type Rules = { readonly [Type in SessionActionType]?: Rule<SessionActionMap[Type]> };

const rules: Rules = {
  ...turnRules,
  ...toolCallRules,
  ...inputRules,
  ...activeClientRules,
  ...configRules,
};

export function refusal(action: StateAction, facts: Facts): string | undefined {
  const rule = rules[action.type as SessionActionType] as Rule<StateAction> | undefined;
  return rule?.(action, facts);
}

/** Actions that wait until the running turn is over: a turn keeps the model it began with. */
export function mustWait(action: StateAction, state: SessionState): boolean {
  return (action.type === 'session/modelChanged' || action.type === 'session/agentChanged') && !!state.activeTurn;
}
