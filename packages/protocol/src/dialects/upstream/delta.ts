/**
 * A delta: how one version of AHP differs from the version above it, as rewrites of single shapes in both directions. A
 * shape is rewritten before the shapes inside it, so a rewrite sees its value as the other version has it, children
 * included.
 */
import type { ChannelKind } from '../../ahp-1/channels.js';
import { actionKind } from '../../ahp-1/channels.js';
import { ACTIVITY_MASK } from '../../session/status.js';
import { type Inner, innerShapes, isJson, isLaterList, type Json, shapesWithin } from './shapes.js';

/** The older version cannot express what happened: its client needs a new snapshot. */
export const RESYNC = Symbol('resync');

/**
 * The subject of an action before and after it, in the shapes of the upper version: the tool call of a tool call
 * action, the container of a toggled customization, the whole state for working directories.
 */
export interface Around {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** What a rewrite may use besides its value. */
export interface Surroundings {
  /** Down: set for the actions in `needsStates`, if the host has the states. */
  readonly around?: Around | undefined;
  /** Up: the channel on which the client dispatched the action. */
  readonly channel?: string | undefined;
  /** Up: the default chat of a session. */
  readonly defaultChatOf?: ((session: string) => string | undefined) | undefined;
  /** The client's name for something. */
  readonly rename?: ((uri: string) => string) | undefined;
}

/** What a rewrite returns: undefined leaves the value out; several values are allowed only in a list. */
export type Rewritten = Json | readonly Json[] | typeof RESYNC | undefined;

export type Rewrite = (value: Json, surroundings: Surroundings) => Rewritten;

export interface VersionDelta {
  /** The lower of the two versions. */
  readonly version: string;
  /** What only the upper version has. An action that is listed here and has a rewrite is replaced by another one. */
  readonly lacks: {
    readonly channels?: readonly ChannelKind[];
    readonly methods?: readonly string[];
    readonly actions?: readonly string[];
    /** The host sends long tool input to its clients as text. */
    readonly inputReferences?: boolean;
  };
  /**
   * Actions that can be rewritten exactly only with the states around them; without states, the rewrite comes as near
   * as it can.
   */
  readonly needsStates?: readonly string[];
  readonly down: Readonly<Record<string, Rewrite>>;
  readonly up: Readonly<Record<string, Rewrite>>;
  /** Error codes of the lower version that the upper one lacks. */
  readonly errorsUp?: Readonly<Record<number, number>>;
}

/** Rewrites a value of a named shape, and everything inside it. */
export type Translate = (shape: string, value: Json, surroundings: Surroundings) => Rewritten;

export interface Translator {
  readonly translate: Translate;
  /** True when anything in a value of this shape can change. */
  touches(shape: string): boolean;
}

/** Combines the rewrites of a delta in one direction. */
export function translatorOf(rewrites: VersionDelta['down']): Translator {
  const byShape = new Map(Object.entries(rewrites));
  const known = new Map<string, boolean>();

  const touches = (shape: string): boolean => {
    const answer = known.get(shape) ?? [...shapesWithin(shape)].some((within) => byShape.has(within));
    known.set(shape, answer);
    return answer;
  };

  const translate: Translate = (shape, value, surroundings) => {
    if (!touches(shape)) return value;
    const rewrite = byShape.get(shape);
    const rewritten = rewrite ? rewrite(value, surroundings) : value;
    if (rewritten === undefined || rewritten === RESYNC) return rewritten;
    if (isList(rewritten)) return rewritten.flatMap((each): Json[] => listed(withInner(shape, each, surroundings)));
    return withInner(shape, rewritten, surroundings);
  };

  /** A rewrite may change the type of an action; the members are then those of the new type. */
  const withInner = (shape: string, value: Json, surroundings: Surroundings): Json | undefined => {
    const named = shape.includes('/') && typeof value.type === 'string' ? value.type : shape;
    let copy: Record<string, unknown> | undefined;
    for (const inner of innerShapes(named, value)) {
      const held = value[inner.member];
      if (!touches(inner.shape) || typeof held !== 'object' || held === null) continue;
      const translated = translateHeld(inner, held, surroundings);
      if (translated === held) continue;
      if (translated === undefined && inner.isEssential) return undefined;
      copy ??= { ...value };
      if (translated === undefined) delete copy[inner.member];
      else copy[inner.member] = translated;
    }
    return copy ?? value;
  };

  const translateHeld = ({ shape, isList }: Inner, held: object, surroundings: Surroundings): unknown => {
    if (isList) return translateItems(shape, held, surroundings);
    return isJson(held) ? translate(shape, held, surroundings) : held;
  };

  /** Only lists of finished turns are read later, and every version has all of those. */
  const translateItems = (shape: string, held: object, surroundings: Surroundings): unknown => {
    if (Array.isArray(held)) return translateList(shape, held, surroundings);
    if (!isLaterList(held)) return held;
    return held.map((item) => (isJson(item) ? translate(shape, item, surroundings) : item));
  };

  const translateList = (shape: string, list: readonly unknown[], surroundings: Surroundings): readonly unknown[] => {
    const translated = list.flatMap((element) => {
      const each = isJson(element) ? translate(shape, element, surroundings) : element;
      return each === undefined ? [] : (each as object);
    });
    return translated.length === list.length && translated.every((each, index) => each === list[index])
      ? list
      : translated;
  };

  return { translate, touches };
}

const listed = (value: Json | undefined): Json[] => (value ? [value] : []);

function isList(rewritten: Json | readonly Json[]): rewritten is readonly Json[] {
  return Array.isArray(rewritten);
}

/** True when the lower version of a delta lacks this action. */
export function lacksAction({ lacks }: VersionDelta, type: string): boolean {
  if (lacks.actions?.includes(type)) return true;
  const kind = actionKind(type);
  return kind !== undefined && (lacks.channels?.includes(kind) ?? false);
}

/** A rewrite that leaves members out. */
export function leaveOut(...members: readonly string[]): (value: Json) => Json {
  return (value) => {
    if (!members.some((member) => member in value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([member]) => !members.includes(member)));
  };
}

/** A rewrite for the members of a union with one of these tags; others pass. */
export function only(tag: string, tags: readonly string[], rewrite: Rewrite): Rewrite {
  return (value, surroundings) => (tags.includes(String(value[tag])) ? rewrite(value, surroundings) : value);
}

/** One rewrite after another. */
export function chained(...rewrites: readonly ((value: Json) => Json)[]): (value: Json) => Json {
  return (value) => rewrites.reduce((rewritten, rewrite) => rewrite(rewritten), value);
}

/** For partial changes: leaves members out, and drops the value if nothing else changed. */
export function leaveOutChanges(...members: readonly string[]): Rewrite {
  const rewrite = leaveOut(...members);
  return (value) => {
    const rest = rewrite(value);
    return rest !== value && Object.keys(rest).length === 0 ? undefined : rest;
  };
}

export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

/** A status with another activity; anything that is not a status stays. */
export function withActivity(status: unknown, activity: number): unknown {
  return typeof status === 'number' ? (status & ~ACTIVITY_MASK) | activity : status;
}
