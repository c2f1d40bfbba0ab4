/** What agents publish about their models. */

import { claudeAgent, copilotAgent, modelAgent } from '@atrium/agents';
import { describe, expect, it } from 'vitest';

const LARGE = { id: 'large', name: 'Large', maxContextWindow: 200_000, supportsVision: true };
const models = [LARGE, { id: 'plain', name: 'Plain' }];

describe('the published models of an agent', () => {
  it('have their context window and whether they can see, where that is known', () => {
    const { info } = modelAgent({ provider: 'm', displayName: 'M', kind: 'openai', models });
    expect(info.models).toStrictEqual([
      { ...LARGE, provider: 'm' },
      { id: 'plain', name: 'Plain', provider: 'm' },
    ]);
  });

  it.each([
    ['claude', claudeAgent({ models }), { supportsVision: true }],
    ['copilot', copilotAgent({ home: '/nowhere', models }), {}],
  ])('have the same for %s; all models of Claude see', (provider, { info }, others) => {
    expect(info.models).toStrictEqual([
      { ...LARGE, provider },
      { id: 'plain', name: 'Plain', provider, ...others },
    ]);
  });
});
