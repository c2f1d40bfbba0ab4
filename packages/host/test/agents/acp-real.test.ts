import { describe, expect, it } from 'vitest';
import { agentAcceptance } from '../../src/agents/acceptance.js';
import { REAL_AGENTS, realSubject, startOf } from '../support/acp-real.js';

/** What these agents tell of usage and of failures is their own business, and differs from one to the next. */
const options = { timeScale: 6, without: ['reasoning', 'usage'], tells: [] } as const;

for (const agent of REAL_AGENTS) {
  const { package: name } = agent;
  if (startOf(agent)) agentAcceptance({ describe, it, expect }, name, (plan) => realSubject(agent, plan), options);
  else it.skip(`${name} is an agent (skipped: it is not installed; see \`npm run test:agents\`)`, () => {});
}
