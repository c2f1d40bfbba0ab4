import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Gate } from '@atrium/core/contracts/extension.js';
import { describe, expect, it } from 'vitest';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { bash, CopilotFixture, callIn, WAIT_MAX_MS } from '../support/copilot-fixture.js';
import { callsIn, textIn } from '../support/session-fixture.js';

const gateOf = (name: string, check: Gate['check']): Gate => ({ name, concerns: () => true, check });

describe.skipIf(!hasCopilot)(`gates before Copilot's own tools${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('[UNI-088] [UNI-089] [UNI-040] stop a call: it does not run, nobody is asked, the model hears why', async () => {
    const seen: unknown[] = [];
    const gate = gateOf('ci-watcher', ({ toolName, input }) => {
      seen.push([toolName, input]);
      return { kind: 'deny', reason: 'CI is failing' };
    });
    const files = { 'a.txt': 'secret of a' };
    const fixture = await CopilotFixture.open(
      [bash('echo made > made.txt'), { calls: [{ name: 'view', input: { path: 'a.txt' } }] }, { text: ['I see.'] }],
      { files, extension: { gates: [gate] } },
    );
    const turn = await fixture.turn('make it');
    expect(callsIn(turn.responseParts).map(({ toolName, status }) => [toolName, status])).toEqual([
      ['bash', 'cancelled'],
      ['view', 'cancelled'],
    ]);
    expect(seen).toEqual([
      ['bash', { command: 'echo made > made.txt', description: 'Does something' }],
      ['view', { path: 'a.txt' }],
    ]);
    expect(fixture.questions).toBe(0);
    expect(fixture.heard(1)).toContain('CI is failing');
    expect(fixture.heard()).not.toContain('secret of a');
    await expect(readFile(path.join(fixture.folder, 'made.txt'))).rejects.toThrow();
  });

  it('[UNI-041] have no objection, and a person is still asked; the model reads their note with the result', async () => {
    const gate = gateOf('ci-watcher', () => ({ kind: 'pass', note: 'CI is green' }));
    const fixture = await CopilotFixture.open([bash('echo ran'), { text: ['Done.'] }], {
      extension: { gates: [gate] },
    });
    const turnId = fixture.begin('go');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    expect((await fixture.finished(turnId)).state).toBe('complete');
    expect([fixture.questions, fixture.heard().includes('CI is green')]).toEqual([1, true]);
  });

  it('want a person to decide, who is asked once', async () => {
    const gate = gateOf('ci-watcher', () => ({ kind: 'ask', reason: 'On a Friday?' }));
    const fixture = await CopilotFixture.open([bash('echo ran'), { text: ['Done.'] }], {
      extension: { gates: [gate] },
    });
    const turnId = fixture.begin('go');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    const turn = await fixture.finished(turnId);
    expect([turn.state, callIn(turn).status, fixture.questions]).toEqual(['complete', 'completed', 1]);
    expect(fixture.heard()).toContain('ran');
  });

  it('[UNI-088] see what a sub-agent wants to do too, and so do people', async () => {
    const task = { description: 'Looks', prompt: 'look', agent_type: 'general-purpose', name: 'sub', mode: 'sync' };
    const gate: Gate = {
      name: 'ci-watcher',
      concerns: ({ input }) => JSON.stringify(input).includes('denied.txt'),
      check: () => ({ kind: 'deny', reason: 'CI is failing' }),
    };
    const fixture = await CopilotFixture.open(
      [
        { calls: [{ id: 't', name: 'task', input: task }] },
        bash('echo made > denied.txt'),
        bash('echo made > made.txt'),
        { text: ['sub done'] },
        { text: ['Done.'] },
      ],
      { extension: { gates: [gate] } },
    );
    const turnId = fixture.begin('go');
    const { toolCallId, confirmationTitle } = await fixture.question(turnId);
    expect(confirmationTitle).toContain('echo made > made.txt');
    fixture.approve(turnId, toolCallId);
    const turn = await fixture.finished(turnId);
    expect(callsIn(turn.responseParts).map(({ toolName, status }) => [toolName, status])).toEqual([
      ['task', 'completed'],
      ['bash', 'cancelled'],
      ['bash', 'completed'],
    ]);
    // What a sub-agent says is for the agent that asked it.
    expect(textIn(turn.responseParts)).toBe('Done.');
    expect([fixture.questions, fixture.heard(2).includes('CI is failing')]).toEqual([1, true]);
    await expect(readFile(path.join(fixture.folder, 'denied.txt'))).rejects.toThrow();
  });
});
