import { expect, it } from 'vitest';
import type { Lane } from '../../src/service.js';
import { Lanes } from '../../src/wire/lanes.js';
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
