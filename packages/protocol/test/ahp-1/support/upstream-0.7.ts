/**
 * The published reducer fixtures of AHP 0.7.0, run on the reducers of 1.0. A fixture's state and actions are lifted to
 * the shapes of 1.0, reduced, and lowered again: what comes out must be what 0.7.0 expects.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reducers } from '../../../src/ahp-1/reducers.js';
import type { Reducer } from '../../../src/ahp-1/reducing.js';
import { type UnknownAction, withoutMember } from '../../../src/reducing.js';
import { deepFreeze } from '../../support/fixtures.js';

type Json = Record<string, unknown>;

export interface UpstreamFixture {
  readonly file: string;
  readonly description: string;
  readonly reducer: keyof typeof reducers;
  readonly initial: Json;
  readonly actions: readonly Json[];
  readonly expected: Json;
}

/** The published files of AHP 0.7.0, when somebody has put them beside this checkout. */
export const UPSTREAM_FOLDER = fileURLToPath(new URL('../../../../../../shared/ahp-0.7.0/', import.meta.url));

export function readJson<T>(folder: string): (T & { file: string })[] {
  const path = join(UPSTREAM_FOLDER, folder);
  if (!existsSync(path)) return [];
  const files = readdirSync(path).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => ({ file, ...JSON.parse(readFileSync(join(path, file), 'utf8')) }));
}

/** One change of shape between 0.7 and 1.0, as two functions on any object of a message or a state. */
interface ShapeChange {
  readonly rule: string;
  readonly up: (value: Json) => Json;
  readonly down: (value: Json) => Json;
}

const isOneOf = (value: unknown, ...names: string[]) => names.includes(String(value));
const without = (value: Json, key: string): Json => withoutMember(value, key);

const SHAPE_CHANGES: readonly ShapeChange[] = [
  {
    rule: 'UP-232',
    up: (value) => (value.lifecycle === 'creationFailed' ? { ...value, lifecycle: 'failed' } : value),
    down: (value) => (value.lifecycle === 'failed' ? { ...value, lifecycle: 'creationFailed' } : value),
  },
  {
    rule: 'UP-210',
    up: (value) => {
      const toggles = value.type === 'session/customizationToggled';
      if (!toggles && !(isOneOf(value.type, 'plugin', 'mcpServer') && 'enabled' in value)) return value;
      return { ...without(value, 'enabled'), enablement: [{ kind: 'session', enabled: value.enabled }] };
    },
    down: (value) => {
      if (!isOneOf(value.type, 'plugin', 'mcpServer')) return value;
      const [decision] = (value.enablement ?? []) as { enabled: boolean }[];
      return { ...without(value, 'enablement'), enabled: decision?.enabled ?? true };
    },
  },
  {
    rule: 'UP-209',
    up: (value) => {
      if (value.type === 'chat/error') {
        return { ...without(value, 'error'), part: { kind: 'error', error: value.error } };
      }
      if (!Array.isArray(value.responseParts) || !value.error) return value;
      const responseParts = [...value.responseParts, { kind: 'error', error: value.error }];
      return { ...without(value, 'error'), responseParts };
    },
    down: (value) => {
      if (!Array.isArray(value.responseParts) || value.state !== 'error') return value;
      const { error } = value.responseParts.at(-1) as Json;
      return { ...value, responseParts: value.responseParts.slice(0, -1), error };
    },
  },
  {
    rule: 'UP-211',
    up: (value) => {
      if (!('claim' in value) || !('title' in value)) return value;
      const { exitCode, ...rest } = value;
      const lifecycle = exitCode === undefined ? { status: 'running' } : { status: 'exited', exitCode };
      return { ...rest, lifecycle };
    },
    down: (value) => {
      if (!('claim' in value) || !('title' in value)) return value;
      const { exitCode } = value.lifecycle as Json;
      return { ...without(value, 'lifecycle'), ...(exitCode !== undefined && { exitCode }) };
    },
  },
  {
    rule: 'UP-212',
    up: (value) => {
      if (!Array.isArray(value.entries)) return value;
      return { ...without(value, 'turnId'), origin: { session: 'ahp-session:/one', turnId: value.turnId } };
    },
    down: (value) => {
      if (!Array.isArray(value.entries)) return value;
      return { ...without(value, 'origin'), turnId: (value.origin as Json).turnId };
    },
  },
  {
    rule: 'UP-225',
    up: (value) => value,
    down: (value) =>
      Array.isArray(value.inputNeeded) ? { ...value, status: (Number(value.status) & ~31) | 24 } : value,
  },
];

const lifted = (value: unknown) => mapped(value, (object) => SHAPE_CHANGES.reduce((all, { up }) => up(all), object));
const lowered = (value: unknown) =>
  mapped(value, (object) => SHAPE_CHANGES.reduce((all, { down }) => down(all), object));

/** Every object changed, the inner ones first. `null` in a fixture stands for a key that holds nothing. */
function mapped(value: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((inner) => mapped(inner, change));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return change(Object.fromEntries(members.map(([key, inner]) => [key, mapped(inner, change)])));
}

/** Reducers of 0.7 read a clock, so the time that they stamp is left out. */
export function runUpstreamFixture({ reducer, initial, actions, expected }: UpstreamFixture) {
  const reduce = reducers[reducer] as Reducer<unknown, UnknownAction>;
  const result = actions.reduce<unknown>(
    (state, action) => deepFreeze(reduce(state, deepFreeze(lifted(action)) as UnknownAction)),
    deepFreeze(lifted(initial)),
  );
  const plain = (state: unknown) => without(mapped(state, (object) => object) as Json, 'modifiedAt');
  return { result: plain(lowered(result)), expected: plain(expected) };
}
