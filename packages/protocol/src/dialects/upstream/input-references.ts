/**
 * Long tool input by reference, for the versions that have it. The model has all input as text; this puts references in
 * place of the texts that the host wants to be read by reference.
 */
import { channelKind } from '../../ahp-1/channels.js';
import type { ContentRef } from '../../ahp-1/index.js';
import { isJson, isLaterList, type Json } from './shapes.js';

/** The input of one tool call, and the place of the call. */
export interface PlacedInput {
  readonly chat: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly text: string;
}

/** Makes the reference that replaces an input; undefined for input that is sent as text. */
export type ReferTo = (input: PlacedInput) => ContentRef | undefined;

/** The turn of a call. */
interface Place {
  readonly chat: string;
  readonly turnId: unknown;
}

/** The state of a channel, with references. */
export function stateWithReferences(channel: string, state: Json, referTo: ReferTo): Json {
  const kind = channelKind(channel);
  if (kind === 'chat') {
    const turns = mapped(state.turns, (turn) => turnWithReferences(channel, turn, referTo));
    const activeTurn = turnWithReferences(channel, state.activeTurn, referTo);
    return replaced(replaced(state, 'turns', turns), 'activeTurn', activeTurn);
  }
  if (kind !== 'session') return state;
  return replaced(
    state,
    'inputNeeded',
    mapped(state.inputNeeded, (entry) => neededWithReferences(entry, referTo)),
  );
}

/** The actions with input. Nearly all others pass after one look into this table. */
const CARRIERS: Readonly<Record<string, (action: Json, channel: string, referTo: ReferTo) => Json>> = {
  'chat/toolCallReady': (action, chat, referTo) => callWithReference(action, { chat, turnId: action.turnId }, referTo),
  'chat/responsePart': (action, chat, referTo) =>
    replaced(action, 'part', partWithReference(action.part, { chat, turnId: action.turnId }, referTo)),
  'chat/turnsLoaded': (action, chat, referTo) =>
    replaced(
      action,
      'turns',
      mapped(action.turns, (turn) => turnWithReferences(chat, turn, referTo)),
    ),
  'session/inputNeededSet': (action, _session, referTo) =>
    replaced(action, 'request', neededWithReferences(action.request, referTo)),
};

/** An action with references; the very same object when it has no long input. */
export function actionWithReferences<Action extends Json & { readonly type: string }>(
  channel: string,
  action: Action,
  referTo: ReferTo,
): Action {
  const carrier = Object.hasOwn(CARRIERS, action.type) ? CARRIERS[action.type] : undefined;
  return carrier ? (carrier(action, channel, referTo) as Action) : action;
}

/** Turns that the host passes in as stored text have no members here, and pass unchanged. */
function turnWithReferences(chat: string, turn: unknown, referTo: ReferTo): unknown {
  if (!isJson(turn)) return turn;
  const place = { chat, turnId: turn.id };
  return replaced(
    turn,
    'responseParts',
    mapped(turn.responseParts, (part) => partWithReference(part, place, referTo)),
  );
}

function partWithReference(part: unknown, place: Place, referTo: ReferTo): unknown {
  if (!isJson(part) || !isJson(part.toolCall)) return part;
  return replaced(part, 'toolCall', callWithReference(part.toolCall, place, referTo));
}

function neededWithReferences(entry: unknown, referTo: ReferTo): unknown {
  if (!isJson(entry) || !isJson(entry.toolCall) || typeof entry.chat !== 'string') return entry;
  const place = { chat: entry.chat, turnId: entry.turnId };
  return replaced(entry, 'toolCall', callWithReference(entry.toolCall, place, referTo));
}

/** `call` is a tool call, or the action that gives it its input. */
function callWithReference(call: Json, { chat, turnId }: Place, referTo: ReferTo): Json {
  const { toolCallId, toolInput: text } = call;
  if (typeof text !== 'string' || typeof turnId !== 'string' || typeof toolCallId !== 'string') return call;
  return replaced(call, 'toolInput', referTo({ chat, turnId, toolCallId, text }) ?? text);
}

function replaced(value: Json, member: string, held: unknown): Json {
  return value[member] === held ? value : { ...value, [member]: held };
}

/** The very same list when no item changes. A list that is read later is changed while it is read. */
function mapped(list: unknown, change: (item: unknown) => unknown): unknown {
  if (Array.isArray(list)) {
    const items = list.map(change);
    return items.some((item, index) => item !== list[index]) ? items : list;
  }
  return isLaterList(list) ? list.map(change) : list;
}
