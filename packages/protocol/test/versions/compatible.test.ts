/** Most of these tests run in the compiler: an `@ts-expect-error` without an error does not compile. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../scripts/json-schema.js';
import type { AssertNone, Broken } from '../../src/versions/compatible.js';
import { PROTOCOL_FINGERPRINT, PROTOCOL_VERSION } from '../../src/versions/versions.js';

interface Frozen {
  message: { id: string; note?: string; inner?: { list: { kind: 'a' | 'b'; size?: number }[] } };
}
type Changed<Message> = Broken<Frozen, { message: Message }>;
type Inner = Frozen['message']['inner'];

export type Allowed = [
  AssertNone<Changed<Frozen['message']>>,
  AssertNone<Changed<Frozen['message'] & { extra?: string }>>,
  AssertNone<
    Changed<{ id: string; note?: string; inner?: { list: { kind: 'a' | 'b'; size?: number; extra?: true }[] } }>
  >,
];

export type Forbidden = [
  // @ts-expect-error a required member was removed
  AssertNone<Changed<{ note?: string; inner?: Inner }>>,
  // @ts-expect-error an optional member was removed
  AssertNone<Changed<{ id: string; inner?: Inner }>>,
  // @ts-expect-error a member has another type
  AssertNone<Changed<{ id: number; note?: string; inner?: Inner }>>,
  // @ts-expect-error an optional member has another type
  AssertNone<Changed<{ id: string; note?: number; inner?: Inner }>>,
  // @ts-expect-error a member became required
  AssertNone<Changed<{ id: string; note: string; inner?: Inner }>>,
  // @ts-expect-error a required member was added
  AssertNone<Changed<Frozen['message'] & { extra: string }>>,
  // @ts-expect-error an optional member deep inside was removed
  AssertNone<Changed<{ id: string; note?: string; inner?: { list: { kind: 'a' | 'b' }[] } }>>,
  // @ts-expect-error a choice was added that an old peer does not know
  AssertNone<Changed<{ id: string; note?: string; inner?: { list: { kind: 'a' | 'b' | 'c'; size?: number }[] } }>>,
  // @ts-expect-error the message is gone
  AssertNone<Broken<Frozen, { other: string }>>,
];

const sha256 = (path: string) =>
  createHash('sha256')
    .update(readFileSync(new URL(path, import.meta.url)))
    .digest('hex');

describe('frozen versions', () => {
  it.each([
    ['v1', '73530bfa45669c84bb7a16283f95f3fba6d4a0c7a9cc92c895e9df4793f223d7'],
    ['v0_2', '9024100db9b7fbd163e9e8f249ab88fa56a7adbaebac445509a3fe4324592c5c'],
  ])('%s has not been touched since it was frozen', (version, hash) => {
    expect(sha256(`../../src/versions/${version}.ts`)).toBe(hash);
  });
});

it('[SMT-001] has the schemas that its fingerprint stands for', () => {
  expect({ version: PROTOCOL_VERSION, fingerprint: fingerprint() }).toEqual({
    version: '0.3.0',
    fingerprint: PROTOCOL_FINGERPRINT,
  });
});
