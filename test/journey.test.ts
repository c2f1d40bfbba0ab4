import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runNode } from '../scripts/process.mjs';

it('the journeys in docs/architecture.md name at most twenty files, each of them runs, and no file of a version that nobody speaks does', async () => {
  const { code, output } = await runNode([fileURLToPath(new URL('../scripts/journey.mjs', import.meta.url))]);
  expect([code, output.match(/are on the path/g)?.length]).toEqual([0, 3]);
});
