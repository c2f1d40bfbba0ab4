/** What a mirror of an older version is compared by: everything but the members that it cannot know, each with its rule. */
import type { Json } from '../../../../src/dialects/upstream/shapes.js';
import { isJson } from '../../../../src/dialects/upstream/shapes.js';

const ORDER = ['0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1', '0.5.0'];
const isAtMost = (version: string, limit: string) => ORDER.indexOf(version) >= ORDER.indexOf(limit);

/** A state without what a client of the version cannot follow. */
export function comparable(version: string, state: unknown): unknown {
  return mapped(JSON.parse(JSON.stringify(state)), (object) =>
    MASKS.reduce((all, { since, mask }) => (isAtMost(version, since) ? mask(all) : all), object),
  );
}

interface Mask {
  readonly rule: string;
  readonly since: string;
  readonly mask: (object: Json) => Json;
}

const isSession = (object: Json) => 'activeClients' in object;

const MASKS: readonly Mask[] = [
  {
    rule: 'UP-207: the order of chats is not told',
    since: '0.9.0',
    mask: (object) => {
      if (!isSession(object)) return object;
      const chats = (object.chats as Json[]).toSorted((a, b) => String(a.resource).localeCompare(String(b.resource)));
      return { ...object, chats };
    },
  },
  {
    rule: 'UP-225: what is left when nothing waits any more differs, and means the same',
    since: '0.7.0',
    mask: (object) => {
      const waits = (Number(object.status) & 31) === 24;
      return isSession(object) && !waits ? { ...object, status: Number(object.status) & ~31 } : object;
    },
  },
  {
    rule: 'UP-226: without the list of what waits, nothing tells that something does',
    since: '0.5.0',
    mask: (object) => (isSession(object) ? { ...object, status: Number(object.status) & ~31 } : object),
  },
  {
    rule: 'UP-217: the clock of the client stamps it',
    since: '0.7.0',
    mask: ({ modifiedAt: _stamped, ...rest }) => rest,
  },
  {
    rule: 'UP-239: told late, or never',
    since: '0.6.0',
    mask: (object) => {
      if (!('toolCallId' in object)) return object;
      const { contributor: _refined, intention: _told, partialInput, ...call } = object;
      return partialInput ? { ...call, partialInput } : call;
    },
  },
  {
    rule: 'UP-221: an answered question stands where it was answered, not where it was asked',
    since: '0.5.2',
    mask: (object) => {
      if (!Array.isArray(object.responseParts)) return object;
      const asked = object.responseParts.filter(({ kind }: Json) => kind === 'inputRequest');
      const others = object.responseParts.filter(({ kind }: Json) => kind !== 'inputRequest');
      const byId = asked.toSorted((a, b) => String(a.request.id).localeCompare(String(b.request.id)));
      return { ...object, responseParts: [...others, ...byId] };
    },
  },
];

function mapped(value: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((inner) => mapped(inner, change));
  if (!isJson(value)) return value;
  return change(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapped(inner, change)])));
}
