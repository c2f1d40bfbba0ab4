import { expect, it } from 'vitest';
import { resourceWatchReducer } from '../../src/resource-watch/reducer.js';
import { NOW } from '../support/builders.js';
import { deepFreeze } from '../support/fixtures.js';

it('[ACT-061] keeps no history of changes: the state of a watch stays the very same', () => {
  const state = deepFreeze({ root: 'file:///srv', recursive: true, excludes: { items: ['out/**'] } });
  const changes = deepFreeze({ items: [{ uri: 'file:///srv/a', type: 'added' as const }] });
  expect(resourceWatchReducer(state, { type: 'resourceWatch/changed', changes }, { now: NOW })).toBe(state);
});
