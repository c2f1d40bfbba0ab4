/**
 * The versions of AHP below 1.0, each as all deltas from 1.0 down to it. Everything here is pure; the shapes of 1.0 are
 * on the upper side.
 */
import type { ChannelKind } from '../../ahp-1/channels.js';
import { PRIVATE, privateMembersOf } from '../../ahp-1/private-members.js';
import { ahp050 } from '../ahp-0.5/delta-0.5.0.js';
import { ahp051 } from '../ahp-0.5/delta-0.5.1.js';
import { ahp052 } from '../ahp-0.5/delta-0.5.2.js';
import { ahp06 } from '../ahp-0.6/delta.js';
import { ahp07 } from '../ahp-0.7/delta.js';
import { ahp09 } from '../ahp-0.9/delta.js';
import { type Around, lacksAction, RESYNC, type Surroundings, translatorOf, type VersionDelta } from './delta.js';
import { isJson, type Json, STATE_SHAPES } from './shapes.js';

/** From 1.0 downwards. */
export const DELTAS: readonly VersionDelta[] = [ahp09, ahp07, ahp06, ahp052, ahp051, ahp050];

/** An action in the host's form, with its type. */
export type Action = Json & { readonly type: string };

/** The states of the action's channel before and after it, in the shapes of 1.0. */
export interface States {
  readonly before: Json;
  readonly after: Json;
}

/** One version of AHP, seen from 1.0. Undefined results mean that the version lacks the thing. */
export interface VersionCodec {
  readonly version: string;
  hasChannel(kind: ChannelKind): boolean;
  hasMethod(method: string): boolean;
  /** True when clients of this version know an action of this type, and may dispatch it if 1.0 lets them. */
  hasAction(type: string): boolean;
  /** True when its clients get long tool input by reference. */
  readonly hasInputReferences: boolean;
  /** True when `actionDown` is exact only with the states around the action. */
  needsStates(type: string): boolean;
  stateDown(kind: ChannelKind, state: Json): Json | undefined;
  /** Also removes the host's private members from the action. */
  actionDown(action: Action, states?: States): Action | typeof RESYNC | undefined;
  notificationDown(method: string, params: Json): Json | undefined;
  resultDown(method: string, result: unknown): unknown;
  shapeDown(shape: string, value: Json): Json | undefined;
  stateUp(kind: ChannelKind, state: Json, surroundings?: Surroundings): Json;
  actionUp(action: Action, surroundings: Surroundings): Action;
  paramsUp(method: string, params: Json, surroundings?: Surroundings): Json;
  /** Translates the error code of a client of this version. */
  errorCodeUp(code: number): number;
}

const STEPS = DELTAS.map((delta) => ({ delta, down: translatorOf(delta.down), up: translatorOf(delta.up) }));
type DeltaStep = (typeof STEPS)[number];

/** The codec of each version that has a delta. */
export const VERSION_CODECS: readonly VersionCodec[] = STEPS.map((_step, index) => codecOf(STEPS.slice(0, index + 1)));

/** The codec of a version by its number; patches of 0.5 differ, those of other versions do not. */
export function versionCodec(version: string): VersionCodec | undefined {
  const [major, minor] = version.split('.');
  return (
    VERSION_CODECS.find((codec) => codec.version === version) ??
    VERSION_CODECS.find((codec) => codec.version.startsWith(`${major}.${minor}.`))
  );
}

const NOTHING: Surroundings = {};

function codecOf(steps: readonly DeltaStep[]): VersionCodec {
  const deltas = steps.map(({ delta }) => delta);
  const upwards = steps.toReversed();
  const hasAction = (type: string) => !deltas.some((delta) => lacksAction(delta, type));
  const stateful = new Set(deltas.flatMap(({ needsStates }) => needsStates ?? []));
  /** Types that pass all deltas unchanged: most of what is streamed. */
  const passing = new Map<string, boolean>();

  const passes = (type: string): boolean => {
    const answer = passing.get(type) ?? (hasAction(type) && !steps.some(({ down }) => down.touches(type)));
    passing.set(type, answer);
    return answer;
  };

  const shapeDown = (shape: string, value: Json, through = steps): Json | undefined => {
    let lower: Json | undefined = value;
    for (const { down } of through) lower = lower && (down.translate(shape, lower, NOTHING) as Json | undefined);
    return lower;
  };

  const shapeUp = (shape: string, value: Json, surroundings: Surroundings): Json => {
    let upper = value;
    for (const { up } of upwards) upper = (up.translate(shape, upper, surroundings) as Json | undefined) ?? upper;
    return upper;
  };

  /** The subject of an action, in the shapes from which the delta at this index translates. */
  const aroundAt = (index: number, action: Action, { before, after }: States): Around => {
    const focus = (state: Json) => {
      const found = focusOf(action, state);
      return found && shapeDown(found.shape, found.value, steps.slice(0, index));
    };
    return { before: focus(before), after: focus(after) };
  };

  const actionDown: VersionCodec['actionDown'] = (action, states) => {
    if (passes(action.type)) return withoutPrivate(action);
    let lower: Json = withoutPrivate(action);
    for (const [index, { delta, down }] of steps.entries()) {
      const type = String(lower.type);
      const isRewritten = type in delta.down;
      if (!isRewritten && lacksAction(delta, type)) return undefined;
      const isStateful = delta.needsStates?.includes(type);
      const around = isStateful ? (states ? aroundAt(index, action, states) : aroundIn(action)) : undefined;
      const translated = down.translate(type, lower, { around });
      if (translated === undefined || translated === RESYNC) return translated;
      lower = translated as Json;
    }
    return lower as Action;
  };

  return {
    version: deltas.at(-1)?.version ?? '',
    hasChannel: (kind) => !deltas.some(({ lacks }) => lacks.channels?.includes(kind)),
    hasMethod: (method) => !deltas.some(({ lacks }) => lacks.methods?.includes(method)),
    hasAction,
    hasInputReferences: !deltas.some(({ lacks }) => lacks.inputReferences),
    needsStates: (type) => stateful.has(type),
    stateDown: (kind, state) => {
      if (deltas.some(({ lacks }) => lacks.channels?.includes(kind))) return undefined;
      return shapeDown(STATE_SHAPES[kind] ?? '', state);
    },
    actionDown,
    notificationDown: (method, params) => shapeDown(method, params),
    resultDown: (method, result) => (isJson(result) ? shapeDown(`${method}:result`, result) : result),
    shapeDown: (shape, value) => shapeDown(shape, value),
    stateUp: (kind, state, surroundings = NOTHING) => shapeUp(STATE_SHAPES[kind] ?? '', state, surroundings),
    actionUp: (action, surroundings) => shapeUp(action.type, action, surroundings) as Action,
    paramsUp: (method, params, surroundings = NOTHING) => shapeUp(method, params, surroundings),
    errorCodeUp: (code) => upwards.reduce((upper, { delta }) => delta.errorsUp?.[upper] ?? upper, code),
  };
}

/** The action without the host's private members. */
function withoutPrivate(action: Action): Action {
  if (!(PRIVATE in action)) return action;
  const { [PRIVATE]: _own, ...rest } = action;
  return rest as Action;
}

/** What the host noted in an action about the states around it. A replay has nothing else. */
function aroundIn(action: Action): Around | undefined {
  const { pending, primary } = privateMembersOf(action);
  if (pending !== undefined) return { before: { status: 'pending-confirmation' }, after: undefined };
  if (primary === undefined) return undefined;
  return { before: { workingDirectories: [] }, after: { workingDirectories: [primary] } };
}

/** The part of a state that an action's rewrite needs. */
function focusOf(action: Action, state: Json): { shape: string; value: Json } | undefined {
  if (action.type.startsWith('chat/toolCall')) return found('ToolCall', toolCallIn(state, action.toolCallId));
  if (action.type === 'session/customizationToggled') return found('Customization', containerIn(state, action.id));
  return { shape: '', value: state };
}

function found(shape: string, value: Json | undefined): { shape: string; value: Json } | undefined {
  return value && { shape, value };
}

function toolCallIn({ activeTurn }: Json, id: unknown): Json | undefined {
  const parts = isJson(activeTurn) && Array.isArray(activeTurn.responseParts) ? activeTurn.responseParts : [];
  const part = parts.find(({ toolCall }: Json) => isJson(toolCall) && toolCall.toolCallId === id);
  return part?.toolCall;
}

/** The top-level customization with this id, or else the one that holds it. */
function containerIn({ customizations }: Json, id: unknown): Json | undefined {
  const entries: readonly Json[] = Array.isArray(customizations) ? customizations : [];
  return (
    entries.find((entry) => entry.id === id) ??
    entries.find(({ children }) => Array.isArray(children) && children.some((child: Json) => child.id === id))
  );
}
