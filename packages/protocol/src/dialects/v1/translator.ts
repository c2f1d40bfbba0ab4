/** The shape of what turns one internal action into version-1 actions. */
import type { ActionMap, ActionType } from '../../actions.js';
import type { V1Action } from '../../versions/v1.js';
import type { ChannelMemory, Step } from '../dialect.js';

type WithoutSession<Action> = Action extends unknown ? Omit<Action, 'session'> : never;

/** A version-1 action before its session is named in it. */
export type V1ActionBody = WithoutSession<V1Action>;

/** A step of a channel, with the memory as it is after it. */
export interface StepContext extends Step {
  readonly memory: ChannelMemory;
}

export type Translator<Type extends ActionType> = (
  action: ActionMap[Type],
  step: StepContext,
) => readonly V1ActionBody[];

export type Translators<Types extends ActionType> = { readonly [Type in Types]: Translator<Type> };

/**
 * Whether an action touches the turn it names. One that does not had no effect; a client that asked for it must see
 * it come back all the same.
 */
export function concernsTurn({ envelope, before }: StepContext, turnId: string): boolean {
  return before?.activeTurn?.id === turnId || envelope.origin !== undefined;
}
