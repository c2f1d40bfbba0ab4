import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentAcceptance } from '../../src/agent-acceptance/suite.js';
import { approve, deny, TestSession } from '../../src/agent-acceptance/test-session.js';
import { callsIn } from '../support/acp-fixture.js';
import { REAL_AGENTS, realSubject, SHELL, startOf } from '../support/acp-real.js';

/** How often these agents try again after a failure, and what they tell of usage, differs from one to the next. */
const options = { timeScale: 6, without: ['reasoning', 'usage', 'failures'] } as const;

const PATIENCE_MS = 120_000;

for (const agent of REAL_AGENTS) {
  const { package: name } = agent;
  if (!startOf(agent)) {
    it.skip(`${name} is an agent (skipped: it is not installed; see \`npm run test:agents\`)`, () => {});
    continue;
  }
  agentAcceptance({ describe, it, expect }, name, (plan) => realSubject(agent, plan), options);

  describe(`the own tools of ${name}`, { timeout: PATIENCE_MS }, () => {
    const input = { command: 'touch made.txt', description: 'Make a file' };
    const plan = [{ call: { name: SHELL, input } }, { text: ['Done.'] }];

    it.each([
      ['runs once a person has agreed', approve, true, 'completed'],
      ['does not run when a person says no', deny, false, 'cancelled'],
    ] as const)('[UNI-088] asks before a command runs, which %s', async (_how, answer, isMade, status) => {
      const fixture = await TestSession.open(await realSubject(agent, plan), {
        extras: {},
        waitMaxMs: PATIENCE_MS / 4,
      });
      onTestFinished(() => fixture.close());
      const turn = await fixture.turn('make it', answer);
      expect(fixture.questions).toBe(1);
      expect(existsSync(path.join(fixture.folder, 'made.txt'))).toBe(isMade);
      expect(callsIn(turn.responseParts).map((call) => call.status)).toEqual([status]);
    });
  });
}
