/** What agents publish about their models. */

import { claudeAgent, copilotAgent, modelAgent } from '@atrium/agents';
import { describe, expect, it } from 'vitest';

const LARGE = { id: 'large', name: 'Large', maxContextWindow: 200_000, supportsVision: true };
const models = [LARGE, { id: 'plain', name: 'Plain' }];
const { supportsVision, ...window } = LARGE;

describe('the published models of an agent', () => {
  it('have their context window and whether they can see, where that is known', () => {
    const { info } = modelAgent({ provider: 'm', displayName: 'M', kind: 'openai', models });
    expect(info.models).toStrictEqual([
      { ...LARGE, provider: 'm' },
      { id: 'plain', name: 'Plain', provider: 'm' },
    ]);
  });

  it.each([
    ['claude', claudeAgent({ models })],
    ['copilot', copilotAgent({ home: '/nowhere', models })],
  ])('have their context window also for %s', (provider, { info }) => {
    expect(info.models).toStrictEqual([
      { ...window, provider },
      { id: 'plain', name: 'Plain', provider },
    ]);
  });
});
