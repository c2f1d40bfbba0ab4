import { describe, expect, it } from 'vitest';
import { Finding } from '../../src/plugins/customizations/finding.js';
import { tempFolder } from '../support/temp-folder.js';
import { settle } from '../support/test-host.js';

describe('looking for customizations', () => {
  it('goes one look after the other, and what comes meanwhile makes for one more', async () => {
    const folder = await tempFolder();
    const looks: (() => void)[] = [];
    const problems: unknown[] = [];
    let found = 0;
    const parts = {
      session: { isClosed: false, state: {}, parts: {} },
      collection: { container: () => ({}), setServer: () => {} },
      ...{
        folder,
        options: {},
        publisher: { soon: () => {}, during: (search: () => Promise<void>) => search() },
        logger: { log: () => {} },
      },
      isTrusted: () => new Promise<boolean>((resolve) => looks.push(() => resolve(false))),
      found: () => found++,
      failed: (error: unknown) => problems.push(error),
    };
    const finding = new Finding(parts as never);
    const all = [finding.again()];
    await settle();
    all.push(finding.again(), finding.again());
    await settle();
    expect(looks).toHaveLength(1);
    looks[0]?.();
    await expect.poll(() => looks.length, { timeout: 10_000 }).toBe(2);
    expect([found, problems]).toEqual([1, []]);
    looks[1]?.();
    await Promise.all(all);
    expect([looks.length, found, problems]).toEqual([2, 2, []]);
  });
});
