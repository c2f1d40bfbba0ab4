/**
 * What all reducers share: their types, and a function that makes a reducer from a table of handlers. Knows no channel.
 */

export interface ReduceContext {
  /** The time of the action, in milliseconds since the epoch. Reducers have no clock of their own. */
  readonly now: number;
}

/** An action of a type that this version does not know. Reducers ignore it. */
export interface UnknownAction {
  readonly type: string;
}

/** Applies one type of action to a state. Returns the very same state when nothing changes. */
export type Handler<State, Action> = (state: State, action: Action, context: ReduceContext) => State;

/** One handler for each type of action; a missing one does not compile. */
export type Handlers<State, Actions> = { readonly [Type in keyof Actions]: Handler<State, Actions[Type]> };

export type Reducer<State, Action> = Handler<State, Action | UnknownAction>;

/** Makes one reducer out of a table of handlers. */
export function reducerOf<State, Actions>(handlers: Handlers<State, Actions>): Reducer<State, Actions[keyof Actions]> {
  const byType = new Map<string, unknown>(Object.entries(handlers));
  return (state, action, context) => {
    const handler = byType.get((action as UnknownAction).type) as Handler<State, unknown> | undefined;
    return handler ? handler(state, action, context) : state;
  };
}

/** A copy with some members set, or the very same object when they are set to these values already. */
export function withMembers<T extends object>(target: T, members: Partial<T>): T {
  for (const key of Object.keys(members) as (keyof T)[]) {
    const isSame = Object.hasOwn(target, key) && Object.is(target[key], members[key]);
    if (!isSame) return { ...target, ...members };
  }
  return target;
}

/** A copy without one member, or the very same object when it does not have it. */
export function withoutMember<T extends object, Key extends keyof T>(target: T, key: Key): Omit<T, Key> {
  if (!Object.hasOwn(target, key)) return target;
  const { [key]: _removed, ...rest } = target;
  return rest;
}

/** A copy with one element replaced, or the very same array when the element is already there. */
export function withElement<T>(list: T[], index: number, element: T): T[] {
  if (list[index] === element) return list;
  const copy = list.slice();
  copy[index] = element;
  return copy;
}

interface ConfigChange {
  readonly config: Record<string, unknown>;
  readonly replace?: boolean | undefined;
}

/** Configuration with new values: merged member by member, or replaced as a whole. */
export function withValues<Config extends { values: Record<string, unknown> }>(
  config: Config,
  { config: values, replace }: ConfigChange,
): Config {
  const { values: current } = config;
  const next = replace ? { ...values } : withMembers(current, values);
  return next === current ? config : { ...config, values: next };
}
