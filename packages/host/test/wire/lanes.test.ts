import type { Lane } from '@atrium/core/sessions/service.js';
import { Lanes } from '@atrium/core/wire/inbound.js';
import { INBOUND_MAX_CHARACTERS } from '@atrium/core/wire/limits.js';
import { expect, it } from 'vitest';
import { settle } from '../support/test-host.js';

function slow(): { work: () => Promise<void>; finish: () => void } {
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { work: () => done, finish };
}

it.each<[Lane, boolean]>([
  ['main', false],
  ['aside', false],
  ['free', true],
])(
  'when the input has ended, what waits in the %s lane is done first, unless it waits for a person',
  async (lane, isLeft) => {
    const lanes = new Lanes(() => {});
    const { work, finish } = slow();
    lanes.enter(work, lane);
    let isEmpty = false;
    const emptied = lanes.emptied().then(() => {
      isEmpty = true;
    });
    await settle();
    expect(isEmpty).toBe(isLeft);
    finish();
    await emptied;
  },
);

it('[REL-098] what waits may have so many characters, whatever lane it is in', async () => {
  let tooMany = 0;
  const lanes = new Lanes(() => tooMany++);
  const { work, finish } = slow();
  for (const lane of ['main', 'aside', 'free', 'main'] as const) lanes.enter(work, lane, INBOUND_MAX_CHARACTERS / 4);
  expect(tooMany).toBe(0);
  finish();
  await settle();
  lanes.enter(slow().work, 'main', INBOUND_MAX_CHARACTERS);
  expect(tooMany).toBe(0);
  lanes.enter(slow().work, 'aside', 1);
  expect(tooMany).toBe(1);
});
