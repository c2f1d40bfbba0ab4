import { coalesced } from '@atrium/core/util/scheduling.js';
import { describe, expect, it } from 'vitest';
import { settle } from '../support/test-host.js';

describe('looking for customizations', () => {
  it('goes one look after the other, and what comes meanwhile makes for one more', async () => {
    const looks: (() => void)[] = [];
    const again = coalesced(() => new Promise<void>((resolve) => looks.push(resolve)));
    const all = [again()];
    await settle();
    all.push(again(), again());
    await settle();
    expect(looks).toHaveLength(1);
    looks[0]?.();
    await all[0];
    await expect.poll(() => looks.length, { timeout: 10_000 }).toBe(2);
    looks[1]?.();
    await Promise.all(all);
    expect(looks).toHaveLength(2);
  });

  it('goes on after a look that failed', async () => {
    let runs = 0;
    const again = coalesced(async () => {
      runs += 1;
      if (runs === 1) throw new Error('no');
    });
    await expect(again()).rejects.toThrow('no');
    await again();
    expect(runs).toBe(2);
  });
});
